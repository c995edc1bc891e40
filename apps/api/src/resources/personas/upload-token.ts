// The token of an upload: shown once, kept only as a digest.
import { hash, randomBytes } from 'node:crypto'

export const newUploadToken = () => randomBytes(32).toString('base64url')

export const digestOf = (token: string) => hash('sha256', token, 'base64url')
