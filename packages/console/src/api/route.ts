/** Paths of requests. */

/** Values of a query. Absent ones are omitted. */
export type Query = Readonly<Record<string, string | number | undefined>>

/** The method and the URL of a route such as `GET /v1/generations/:id`. Encodes every part. */
export const urlOf = (
  route: string,
  params: Readonly<Record<string, string>> = {},
  query: Query = {}
): { readonly method: string; readonly url: string } => {
  const [method = "GET", template = "/"] = route.split(" ")
  const path = template.replace(/:(\w+)/g, (_, name: string) => {
    const value = params[name]
    // An empty part would name another resource.
    if (value === undefined || value === "") throw new TypeError(`${route}: ${name} is missing`)
    return encodeURIComponent(value)
  })
  const search = new URLSearchParams(
    Object.entries(query).flatMap(([name, value]) => value === undefined || value === "" ? [] : [[name, String(value)]])
  ).toString()
  return { method, url: search === "" ? path : `${path}?${search}` }
}
