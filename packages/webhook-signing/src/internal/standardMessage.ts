/** The verification of Standard Webhooks in two steps: `begin` needs no body. */
import { VerificationError } from "../VerificationError.ts"
import { nowMillis } from "./Ambient.ts"
import * as header from "./header.ts"
import * as hmac from "./hmac.ts"
import { secondsOf, usableSecrets } from "./verification.ts"

/** Options for a verification of Standard Webhooks. */
export interface VerifyOptions {
  /**
   * The secret of the endpoint. Pass several during a rotation or if several endpoints have the same URL. Absent and empty
   * ones are ignored, so that an optional second variable may be unset.
   */
  readonly secret: string | undefined | ReadonlyArray<string | undefined>
  /** Maximum distance between the timestamp and now in seconds, inclusive. Default 300. `Infinity` accepts any. */
  readonly toleranceSeconds?: number | undefined
  /** Characters of the signature header. Default 4096. */
  readonly headerLengthMax?: number | undefined
  /** Number of `v1` in the signature header. Default 16. */
  readonly signaturesMax?: number | undefined
  /** Current time in milliseconds since 1970. Default: `Date.now()`. */
  readonly nowMillis?: number | undefined
}

/** Result of a verification of Standard Webhooks. */
export interface Checked {
  /** `webhook-id`, which is the same in every send. Use it to detect duplicates. */
  readonly id: string
  /** Time of the signature in seconds since 1970. Each send has its own. */
  readonly timestamp: number
}

/** State between the two steps. */
export interface Pending extends Checked {
  readonly signatures: ReadonlyArray<string>
  readonly keys: ReadonlyArray<Uint8Array<ArrayBuffer>>
  readonly toleranceSeconds: number
  readonly now: number
}

/** Checks the options and parses the headers. */
export const begin = (headers: header.HeadersLike, options: VerifyOptions): Pending => {
  const { headerLengthMax = 4096, signaturesMax = 16, toleranceSeconds = 300 } = options
  const now = secondsOf(options.nowMillis ?? nowMillis(), toleranceSeconds)
  const keys = usableSecrets(options.secret).map((secret) => keyOf(secret) ?? failSecret())
  const [id, timestamp, signature] = names.map((name) => header.read(headers, name)) as [string, string, string]
  if (id === "" || timestamp === "" || signature === "") throw new VerificationError("missing_header", needed)
  if (!idPattern.test(id)) throw malformed("`webhook-id` is not 1 to 256 ASCII characters without space, `.` and `,`.")
  if (!header.timestampPattern.test(timestamp)) throw malformed("`webhook-timestamp` is not a number of seconds.")
  if (signature.length > headerLengthMax) throw malformed(`\`webhook-signature\` is longer than ${headerLengthMax}.`)
  const items = signature.split(" ").map((item) =>
    itemPattern.exec(item) ?? fail("An item is not `<version>,<value>`.")
  )
  const signatures = items.flatMap(([item, version]) => version === "v1" ? item : [])
  if (signatures.length === 0) throw malformed("`webhook-signature` has no `v1`.")
  if (signatures.length > signaturesMax) throw malformed(`\`webhook-signature\` has more than ${signaturesMax} \`v1\`.`)
  if (!signatures.every((item) => codePattern.test(item))) throw malformed("A `v1` is not the Base64 of 32 bytes.")
  return { id, timestamp: Number(timestamp), signatures, keys, toleranceSeconds, now }
}

/** Checks the signatures of the body, then their age. */
export const complete = async (
  { id, keys, now, signatures, timestamp, toleranceSeconds }: Pending,
  body: Uint8Array | string
): Promise<Checked> => {
  const signed = hmac.message(`${id}.${timestamp}`, body)
  const codes = await Promise.all(keys.map(async (key) => sign(await hmac.importKey(key), signed)))
  if (!hmac.matches(codes, signatures)) throw new VerificationError("no_match")
  const age = now - timestamp
  if (age > toleranceSeconds) {
    throw new VerificationError("expired", `The signature is ${age} s old; the maximum is ${toleranceSeconds} s.`)
  }
  if (-age > toleranceSeconds) {
    throw new VerificationError(
      "not_yet_valid",
      `The timestamp is ${-age} s in the future; the maximum is ${toleranceSeconds} s. Synchronize this machine's clock (NTP).`
    )
  }
  return { id, timestamp }
}

/** Returns `v1,<base64>` for a message. */
export const sign = async (key: hmac.Key, message: Uint8Array<ArrayBuffer>): Promise<string> =>
  `v1,${btoa(String.fromCharCode(...await hmac.macBytes(key, message)))}`

/** Decodes a secret: Base64, with or without the prefix and the padding. Returns `undefined` if it is empty or not Base64. */
export const keyOf = (secret: string): Uint8Array<ArrayBuffer> | undefined => {
  const text = secret.startsWith("whsec_") ? secret.slice(6) : secret
  if (text === "" || /\s/.test(text)) return undefined
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
  } catch {
    return undefined
  }
}

/** A dot would make the signed text ambiguous, and a comma a repeated header. */
export const idPattern = /^[!-+\-/-~]{1,256}$/

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const names = ["webhook-id", "webhook-timestamp", "webhook-signature"]
const needed = "A request needs `webhook-id`, `webhook-timestamp` and `webhook-signature`."
const itemPattern = /^([A-Za-z0-9]+),(.+)$/
const codePattern = /^v1,[A-Za-z0-9+/]{43}=$/

const malformed = (detail: string) => new VerificationError("malformed_header", detail)

const fail = (detail: string): never => {
  throw malformed(detail)
}

const failSecret = (): never => {
  throw new VerificationError(
    "malformed_secret",
    "A secret is not Base64. Is it complete, and the one of this endpoint?"
  )
}
