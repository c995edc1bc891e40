// Tells an invited person by mail. The invitation holds whether the mail arrives or not.
import type { Mailer } from '../outside/mailer.ts'
import type { Handler } from './worker.ts'

export function invitationMail(mailer: Mailer | undefined, frontendUrl: (tenantId: string) => string): Handler {
  return async ({ tenant_id, payload }) => {
    const { email, space, invitedBy } = payload as { email: string; space: string; invitedBy: string }
    await mailer?.send({
      to: email,
      subject: `You are invited to ${oneLine(space)}`,
      text: [
        `${invitedBy} has invited you to the space "${space}" on Amphi.`,
        '',
        `Sign in with this e-mail address at ${frontendUrl(tenant_id)}`,
        '',
      ].join('\n'),
    })
  }
}

const oneLine = (text: string) => text.replace(/\s+/g, ' ').slice(0, 100)
