// Sends mail through the operator's SMTP server; without one, nothing is sent and nothing fails.
import type { Secret } from '../base/secret.ts'

export interface Mail {
  readonly to: string
  readonly subject: string
  readonly text: string
}

export interface Mailer {
  send(mail: Mail): Promise<void>
  close(): void
}

export async function openMailer(smtpUrl: Secret | undefined, from: string): Promise<Mailer | undefined> {
  if (!smtpUrl) return undefined
  const { createTransport } = await import('nodemailer')
  const transport = createTransport(smtpUrl.reveal(), {
    from,
    connectionTimeout: 5000,
    greetingTimeout: 5000,
    socketTimeout: 30_000,
  } as never)
  return {
    async send(mail) {
      await transport.sendMail(mail)
    },
    close: () => transport.close(),
  }
}
