/** The signature header. */
import { VerificationError } from "../VerificationError.ts"
import { codeLength } from "./hmac.ts"

/** `Headers`, or an object with names in any case. */
export type HeadersLike =
  | { readonly get: (name: string) => string | null | undefined }
  | { readonly [name: string]: string | ReadonlyArray<string> | undefined }

/** A parsed header. */
export interface Parsed {
  readonly timestamp: number
  /** The `v1` values: lower-case hex of 32 bytes each. */
  readonly signatures: ReadonlyArray<string>
}

/** Returns the value of a header, or `""`. Joins repeated headers, which `parse` rejects. */
export const read = (headers: HeadersLike, name: string): string => {
  if (isGetter(headers)) return headers.get(name) ?? ""
  const wanted = name.toLowerCase()
  return Object.entries(headers)
    .flatMap(([other, value]) => other.toLowerCase() === wanted && value !== undefined ? value : [])
    .join(",")
}

/**
 * Parses `t=<unix seconds>,v1=<hex>` and ignores items of other schemes. Throws for any other
 * deviation, even if another item is valid, because it may be a sign of tampering.
 */
export const parse = (
  value: string,
  { headerLengthMax, signaturesMax }: { readonly headerLengthMax: number; readonly signaturesMax: number }
): Parsed => {
  if (value.length > headerLengthMax) throw malformed(`The header is longer than ${headerLengthMax} characters.`)
  const items = value.split(",").map((item) => itemPattern.exec(item) ?? fail("An item is not `<scheme>=<value>`."))
  const [timestamp, ...more] = items.flatMap(([, scheme, value]) => scheme === "t" ? value! : [])
  const signatures = items.flatMap(([, scheme, value]) => scheme === "v1" ? value! : [])
  if (timestamp === undefined || more.length > 0) throw malformed("The header must have exactly one `t`.")
  if (!timestampPattern.test(timestamp)) throw malformed("`t` is not a number of seconds.")
  if (signatures.length === 0) throw malformed("The header has no `v1`.")
  if (signatures.length > signaturesMax) throw malformed(`The header has more than ${signaturesMax} \`v1\`.`)
  if (!signatures.every((hex) => hexPattern.test(hex))) throw malformed("A `v1` is not the lower-case hex of 32 bytes.")
  return { timestamp: Number(timestamp), signatures }
}

/** Allows one notation per number, so that the signed text is the verified one. Numbers of 15 digits are exact. */
export const timestampPattern = /^(?:0|[1-9][0-9]{0,14})$/

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const itemPattern = /^([A-Za-z0-9_-]+)=(.*)$/
const hexPattern = new RegExp(`^[0-9a-f]{${codeLength}}$`)

const malformed = (detail: string) =>
  new VerificationError(
    "malformed_header",
    `${detail} The signature header must be \`t=<unix seconds>,v1=<hex>\`, with one \`t\` and one or more \`v1\`.`
  )

const fail = (detail: string): never => {
  throw malformed(detail)
}

const isGetter = (headers: HeadersLike): headers is Extract<HeadersLike, { readonly get: Function }> =>
  typeof headers.get === "function"
