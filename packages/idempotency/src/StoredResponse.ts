/** Responses that are stored and replayed. */

/** A response to a request with an idempotency key. */
export interface StoredResponse {
  /** 100 to 599. */
  readonly status: number
  /** Names and values, in order. A name can repeat. */
  readonly headers: ReadonlyArray<readonly [name: string, value: string]>
  /** `undefined` if the response was too large to be stored. */
  readonly body: Uint8Array | undefined
}
