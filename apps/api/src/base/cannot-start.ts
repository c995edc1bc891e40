// Why the service cannot start, in words for whoever starts it: they are printed alone, without a stack.
export class CannotStart extends Error {
  override readonly name: string = 'CannotStart'
}
