/** The check of a signature, in two halves: what needs no body, so that strangers' bodies are not even read, and the rest. */
import { VerificationError } from "../VerificationError.ts"
import { nowMillis } from "./Ambient.ts"
import * as header from "./header.ts"
import * as hmac from "./hmac.ts"

/** How to verify. */
export interface VerifyOptions {
  /**
   * The secret of the endpoint, as it was shown: the whole text is the key. Several where
   * any may have signed: while one takes over from another, or where several endpoints
   * lead here. Those that are absent or empty are passed over, so that a second variable
   * can be unset.
   */
  readonly secret: string | undefined | ReadonlyArray<string | undefined>
  /** The header with the signature, in any case. Default `X-Service-Signature`. */
  readonly headerName?: string | undefined
  /** The oldest signature that is taken, in seconds; one that is exactly so old is. Default 300. `Infinity`: any. */
  readonly toleranceSeconds?: number | undefined
  /** The longest header, in characters. Default 4096. */
  readonly headerLengthMax?: number | undefined
  /** The most `v1` in a header. Default 16. */
  readonly signaturesMax?: number | undefined
  /** The time, in milliseconds since 1970. Default: the clock's. */
  readonly nowMillis?: number | undefined
}

/** Something odd about a request that was accepted. */
export interface Warning {
  /** `future_timestamp`: it was signed at a time that is further ahead than `toleranceSeconds`. */
  readonly code: "future_timestamp"
  /** What to do about it. */
  readonly message: string
}

/** What a good signature says. */
export interface Checked {
  /** When it was signed, in seconds since 1970; a retry is signed anew. */
  readonly timestamp: number
  /** Usually none. Worth a line in a log. */
  readonly warnings: ReadonlyArray<Warning>
}

/** What is left to check. */
export interface Pending extends header.Parsed {
  readonly secrets: ReadonlyArray<string>
  readonly toleranceSeconds: number
  readonly now: number
}

/** Checks secrets and header. */
export const begin = (headers: header.HeadersLike, options: VerifyOptions): Pending => {
  const { headerLengthMax = 4096, headerName = "X-Service-Signature", signaturesMax = 16 } = options
  const { toleranceSeconds = 300 } = options
  const now = options.nowMillis ?? nowMillis()
  // What is no number would be older than nothing, and let every age pass.
  if (!(toleranceSeconds >= 0)) throw new RangeError("`toleranceSeconds` is a number from 0 on.")
  if (!Number.isFinite(now)) throw new RangeError("`nowMillis` is a number.")
  const secrets = usableSecrets(options.secret)
  const value = header.read(headers, headerName)
  if (value === "") throw new VerificationError("missing_header")
  const parsed = header.parse(value, { headerLengthMax, signaturesMax })
  return { ...parsed, secrets, toleranceSeconds, now: Math.floor(now / 1000) }
}

/** Checks the signatures over these bytes, and then their age: only a true one is called old. */
export const complete = async (
  { now, secrets, signatures, timestamp, toleranceSeconds }: Pending,
  body: Uint8Array | string
): Promise<Checked> => {
  const message = hmac.message(timestamp, body)
  const codes = await Promise.all(secrets.map(async (secret) => hmac.mac(await hmac.importKey(secret), message)))
  if (!hmac.matches(codes, signatures)) throw new VerificationError("no_match")
  const age = now - timestamp
  if (age > toleranceSeconds) {
    throw new VerificationError("expired", `It was signed ${age} s ago, and ${toleranceSeconds} s are allowed.`)
  }
  return { timestamp, warnings: -age > toleranceSeconds ? [futureTimestamp(-age)] : [] }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const usableSecrets = (secret: VerifyOptions["secret"]): ReadonlyArray<string> => {
  const secrets = [secret].flat().filter((secret): secret is string => typeof secret === "string" && secret !== "")
  if (secrets.length === 0) throw new VerificationError("no_secret")
  if (secrets.some((secret) => /\s/.test(secret))) throw new VerificationError("secret_whitespace")
  return secrets
}

const futureTimestamp = (seconds: number): Warning => ({
  code: "future_timestamp",
  message: `It was signed ${seconds} s from now: this machine's clock is behind, or the sender's is ahead.`
})
