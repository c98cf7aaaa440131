/** Search parameters of the URL. Anything can be in a URL, so unknown values are ignored. */

/** The parameter, if its value is one of these; otherwise nothing. */
export const oneOf = <const Name extends string, const T extends string>(
  name: Name,
  search: Readonly<Record<string, unknown>>,
  values: ReadonlyArray<T>
): { readonly [K in Name]?: T } => {
  const value = values.find((one) => one === search[name])
  return (value === undefined ? {} : { [name]: value }) as { readonly [K in Name]?: T }
}

/** The parameter, if it is a text that is not empty. The router reads numbers as numbers. */
export const textOf = <const Name extends string>(
  name: Name,
  search: Readonly<Record<string, unknown>>
): { readonly [K in Name]?: string } => {
  const value = search[name]
  return ((typeof value === "string" && value !== "") || typeof value === "number"
    ? { [name]: String(value) }
    : {}) as { readonly [K in Name]?: string }
}
