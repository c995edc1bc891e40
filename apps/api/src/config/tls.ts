// The certificate and the key to serve HTTPS with.
import { readFileSync } from 'node:fs'
import { createSecureContext } from 'node:tls'
import type { EnvironmentReader } from './environment.ts'

export interface TlsConfig {
  readonly certFile: string
  readonly keyFile: string
}

export function readTls(read: EnvironmentReader): TlsConfig | undefined {
  const isOneMissing = !read.optional('TLS_CERT_FILE') !== !read.optional('TLS_KEY_FILE')
  if (isOneMissing) read.fault('TLS_CERT_FILE and TLS_KEY_FILE go together')
  const certFile = read.file('TLS_CERT_FILE')
  const keyFile = read.file('TLS_KEY_FILE')
  if (certFile === undefined || keyFile === undefined) return undefined
  try {
    createSecureContext({ cert: readFileSync(certFile), key: readFileSync(keyFile) })
  } catch (error) {
    read.fault(`TLS_CERT_FILE and TLS_KEY_FILE cannot serve HTTPS: ${(error as Error).message}`)
  }
  return { certFile, keyFile }
}
