/** Classes of errors that promise APIs throw, of which each contains a copy. */

/** Returns the symbol that marks the instances of a class, and those of other copies of the class. */
export const brandOf = (name: string): symbol => Symbol.for(`@kinora/persistence/${name}`)

/** Returns whether a value is an instance of the class `copied` or of a copy. A class that extends it has only its own instances. */
export const isInstance = (
  self: object,
  { brand, copied }: { readonly copied: object; readonly brand: symbol },
  value: unknown
): boolean =>
  self === copied
    ? typeof value === "object" && value !== null && brand in value
    : Function.prototype[Symbol.hasInstance].call(self as never, value)
