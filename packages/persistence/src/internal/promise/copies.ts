/** Classes of errors that promise APIs throw, of which each contains a copy. */

/**
 * Returns whether a value is an instance of a class, or of a copy of it that has the same name. A class that extends it has
 * only its own instances.
 */
export const isInstance = (
  self: object,
  { copied, name }: { readonly copied: object; readonly name: string },
  value: unknown
): boolean =>
  Function.prototype[Symbol.hasInstance].call(self as never, value) ||
  (self === copied && value instanceof Error && value.name === name)
