/** The verification in two steps: `begin` needs no body, so the bodies of requests without a valid header are not read. */
import { VerificationError } from "../VerificationError.ts"
import { nowMillis } from "./Ambient.ts"
import * as header from "./header.ts"
import * as hmac from "./hmac.ts"

/** Options for a verification. */
export interface VerifyOptions {
  /**
   * The secret of the endpoint, including its prefix. Pass several during a rotation or if several
   * endpoints have the same URL. Absent and empty ones are ignored, so that an optional second
   * variable may be unset.
   */
  readonly secret: string | undefined | ReadonlyArray<string | undefined>
  /** Name of the signature header, in any case. Default `X-Service-Signature`. */
  readonly headerName?: string | undefined
  /** Maximum age of a signature in seconds, inclusive. Default 300. `Infinity` accepts any age. */
  readonly toleranceSeconds?: number | undefined
  /** Characters of the header. Default 4096. */
  readonly headerLengthMax?: number | undefined
  /** Number of `v1` in the header. Default 16. */
  readonly signaturesMax?: number | undefined
  /** Current time in milliseconds since 1970. Default: `Date.now()`. */
  readonly nowMillis?: number | undefined
}

/** A warning about an accepted request. */
export interface Warning {
  /** `future_timestamp`: the timestamp is more than `toleranceSeconds` in the future. */
  readonly code: "future_timestamp"
  /** Explanation for operators. */
  readonly message: string
}

/** Result of a verification. */
export interface Checked {
  /** Time of the signature in seconds since 1970. Each send has its own. */
  readonly timestamp: number
  /** Warnings to log. Usually empty. */
  readonly warnings: ReadonlyArray<Warning>
}

/** State between the two steps. */
export interface Pending extends header.Parsed {
  readonly secrets: ReadonlyArray<string>
  readonly toleranceSeconds: number
  readonly now: number
}

/** Checks the options and parses the header. */
export const begin = (headers: header.HeadersLike, options: VerifyOptions): Pending => {
  const { headerLengthMax = 4096, headerName = "X-Service-Signature", signaturesMax = 16 } = options
  const { toleranceSeconds = 300 } = options
  const now = secondsOf(options.nowMillis ?? nowMillis(), toleranceSeconds)
  const secrets = usableSecrets(options.secret)
  const value = header.read(headers, headerName)
  if (value === "") throw new VerificationError("missing_header")
  const parsed = header.parse(value, { headerLengthMax, signaturesMax })
  return { ...parsed, secrets, toleranceSeconds, now }
}

/** Checks the signatures of the body, then their age. Only a valid signature can be `expired`. */
export const complete = async (
  { now, secrets, signatures, timestamp, toleranceSeconds }: Pending,
  body: Uint8Array | string
): Promise<Checked> => {
  const message = hmac.message(timestamp, body)
  const codes = await Promise.all(secrets.map(async (secret) => hmac.mac(await hmac.importKey(secret), message)))
  if (!hmac.matches(codes, signatures)) throw new VerificationError("no_match")
  const age = now - timestamp
  if (age > toleranceSeconds) {
    throw new VerificationError("expired", `The signature is ${age} s old; the maximum is ${toleranceSeconds} s.`)
  }
  return { timestamp, warnings: -age > toleranceSeconds ? [futureTimestamp(-age)] : [] }
}

/** Returns the current time in seconds. Throws if a number is invalid: NaN would compare as false and accept every age. */
export const secondsOf = (now: number, toleranceSeconds: number): number => {
  if (!(toleranceSeconds >= 0)) throw new RangeError("`toleranceSeconds` must be a number of at least 0.")
  if (!Number.isFinite(now)) throw new RangeError("`nowMillis` must be a finite number.")
  return Math.floor(now / 1000)
}

/** Returns the secrets without absent and empty ones. */
export const usableSecrets = (secret: VerifyOptions["secret"]): ReadonlyArray<string> => {
  const secrets = [secret].flat().filter((secret): secret is string => typeof secret === "string" && secret !== "")
  if (secrets.length === 0) throw new VerificationError("no_secret")
  if (secrets.some((secret) => /\s/.test(secret))) throw new VerificationError("secret_whitespace")
  return secrets
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const futureTimestamp = (seconds: number): Warning => ({
  code: "future_timestamp",
  message: `The timestamp is ${seconds} s in the future: this machine's clock is behind, or the sender's is ahead.`
})
