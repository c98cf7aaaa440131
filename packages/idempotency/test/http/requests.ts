/** Requests to servers under test. */

/** A response, as the tests compare it. */
export interface Got {
  readonly status: number
  readonly headers: Headers
  readonly body: string
  readonly isReplay: boolean
}

/** Options of `post`. */
export interface PostOptions {
  readonly method?: string | undefined
  readonly key?: string | undefined
  readonly json?: unknown
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly signal?: AbortSignal | undefined
}

/** Sends a request, by default `POST` of a lamp with the key `k-1`. */
export const post = async (url: string, options: PostOptions = {}): Promise<Got> => {
  const { headers, json = { item: "lamp", count: 2 }, method = "POST", signal = null } = options
  const key = "key" in options ? options.key : "k-1"
  const response = await fetch(url, {
    method,
    signal,
    body: method === "GET" ? null : JSON.stringify(json),
    headers: {
      "content-type": "application/json",
      ...(key === undefined ? {} : { "idempotency-key": key }),
      ...headers
    }
  })
  return {
    status: response.status,
    headers: response.headers,
    body: await response.text(),
    isReplay: response.headers.get("idempotent-replayed") === "true"
  }
}

/** Returns the status and whether the response is a replay. */
export const outcomeOf = ({ isReplay, status }: Got): string => isReplay ? `${status} replayed` : `${status}`
