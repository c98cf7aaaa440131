/** Reading of requests, and responses to refusals. */

/** A request that is refused with a status. */
export class Refusal extends Error {
  readonly status: number
  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

/** The header stands for your authentication. */
export const accountOf = (request: Request): string => {
  const account = request.headers.get("x-account")
  if (account === null) throw new Refusal(401, "The header X-Account is missing")
  return account
}

/** Returns the texts of a JSON body with these names. */
export const textsOf = async <Name extends string>(
  request: Request,
  ...names: ReadonlyArray<Name>
): Promise<Readonly<Record<Name, string>>> => {
  const body: unknown = await request.json().catch(() => undefined)
  const texts = names.map((name) => {
    const value: unknown = Object(body)[name]
    if (typeof value !== "string" || !/^[ -~]{1,1000}$/.test(value)) {
      throw new Refusal(400, `${name} must have 1 to 1,000 characters`)
    }
    return [name, value]
  })
  return Object.fromEntries(texts)
}

/** Returns the response of a route, or the response to the refusal that it throws. */
export const respond = async (route: () => Promise<Response>): Promise<Response> => {
  try {
    return await route()
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return Response.json({ error: error.message }, { status: error.status })
  }
}
