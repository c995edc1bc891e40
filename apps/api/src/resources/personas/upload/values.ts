// Values by the names that files give them, which may be any names.

export type Values = Readonly<Record<string, unknown>>

/** Sets a value. One name would otherwise set what the object is made from. */
export function put(values: Record<string, unknown>, name: string, value: unknown): void {
  if (name !== '__proto__') values[name] = value
  else Object.defineProperty(values, name, { value, enumerable: true, configurable: true, writable: true })
}
