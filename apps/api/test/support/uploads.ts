// A space of its own to upload personas into, so that tests do not meet each other's.
import assert from 'node:assert/strict'
import { FORM_TYPE, type FormFile, form } from './forms.ts'
import { type Person, type Reply, type Service, toReply } from './service.ts'

/** A file of four columns. */
export const csv = (...rows: string[]): FormFile => ({
  name: 'people.csv',
  contents: ['name,notes,birthdate,city', ...rows, ''].join('\n'),
})

export class UploadSpace {
  readonly id: string
  readonly at: string
  readonly admin: Person
  readonly #service: Service

  private constructor(service: Service, id: string, admin: Person) {
    this.#service = service
    this.id = id
    this.at = `/v1/spaces/${id}/personas`
    this.admin = admin
  }

  static async in(service: Service): Promise<UploadSpace> {
    const founder = await service.signIn('ana', ['admins'])
    const { body } = await founder.call('POST', '/v1/spaces', { name: 'uploads', description: '' })
    return new UploadSpace(service, body.id, await service.signIn('ana', ['admins']))
  }

  async send(payload: Buffer, headers: Record<string, string> = {}): Promise<Reply> {
    const authorization = `Bearer ${this.admin.token}`
    const reply = await this.#service.app.inject({
      method: 'POST',
      url: `${this.at}/upload`,
      payload,
      headers: { authorization, 'content-type': FORM_TYPE, ...headers },
    })
    return toReply(reply)
  }

  upload(...files: FormFile[]): Promise<Reply> {
    return this.send(form(...files))
  }

  /** An upload that must succeed. */
  async staged(...files: FormFile[]) {
    const { status, body } = await this.upload(...files)
    assert.equal(status, 200, JSON.stringify(body))
    return body
  }

  finalize(token: string, resolution?: string, person = this.admin): Promise<Reply> {
    const body = { upload_token: token, ...(resolution && { conflict_resolution: resolution }) }
    return person.call('POST', `${this.at}/upload/finalize`, body)
  }

  /** Oldest first. */
  // biome-ignore lint/suspicious/noExplicitAny: a test looks at whatever came
  async personas(): Promise<any[]> {
    return (await this.admin.call('GET', `${this.at}?limit=1000`)).body.data.reverse()
  }

  async brief(): Promise<string[]> {
    return (await this.personas()).map(({ name, notes }) => `${name}: ${notes}`)
  }
}
