/** The signature header: found in a request, and taken apart. */
import { VerificationError } from "../VerificationError.ts"
import { codeLength } from "./hmac.ts"

/** Headers as requests have them: `Headers`, or an object whose names may be written in any case. */
export type HeadersLike =
  | { readonly get: (name: string) => string | null | undefined }
  | { readonly [name: string]: string | ReadonlyArray<string> | undefined }

/** What a header says. */
export interface Parsed {
  readonly timestamp: number
  /** Each as long as a code, lower-case hex. */
  readonly signatures: ReadonlyArray<string>
}

/** The value of a header, `""` without one. Of several, all: no parser takes two. */
export const read = (headers: HeadersLike, name: string): string => {
  if (isGetter(headers)) return headers.get(name) ?? ""
  const wanted = name.toLowerCase()
  return Object.entries(headers)
    .flatMap(([other, value]) => other.toLowerCase() === wanted && value !== undefined ? value : [])
    .join(",")
}

/**
 * Reads `t=<unix seconds>,v1=<hex>`, with items of other schemes passed over. All else is
 * malformed, also where another item would do: a half-understood header is how a
 * tampered one looks (section "Signature").
 */
export const parse = (
  value: string,
  { headerLengthMax, signaturesMax }: { readonly headerLengthMax: number; readonly signaturesMax: number }
): Parsed => {
  if (value.length > headerLengthMax) throw malformed(`It is longer than ${headerLengthMax} characters.`)
  const items = value.split(",").map((item) => itemPattern.exec(item) ?? fail("An item is not `<scheme>=<value>`."))
  const [timestamp, ...more] = items.flatMap(([, scheme, value]) => scheme === "t" ? value! : [])
  const signatures = items.flatMap(([, scheme, value]) => scheme === "v1" ? value! : [])
  if (timestamp === undefined || more.length > 0) throw malformed("There is not exactly one `t`.")
  if (!timestampPattern.test(timestamp)) throw malformed("`t` is not a number of seconds.")
  if (signatures.length === 0) throw malformed("There is no `v1`.")
  if (signatures.length > signaturesMax) throw malformed(`There are more than ${signaturesMax} of \`v1\`.`)
  if (!signatures.every((hex) => hexPattern.test(hex))) throw malformed("A `v1` is not the lower-case hex of 32 bytes.")
  return { timestamp: Number(timestamp), signatures }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const itemPattern = /^([A-Za-z0-9_-]+)=(.*)$/
/** One way to write each number, so that the text that was signed is the one that is verified; 15 digits are exact. */
const timestampPattern = /^(?:0|[1-9][0-9]{0,14})$/
const hexPattern = new RegExp(`^[0-9a-f]{${codeLength}}$`)

const malformed = (detail: string) => new VerificationError("malformed_header", detail)

const fail = (detail: string): never => {
  throw malformed(detail)
}

const isGetter = (headers: HeadersLike): headers is Extract<HeadersLike, { readonly get: Function }> =>
  typeof headers.get === "function"
