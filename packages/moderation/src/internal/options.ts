/** Options that all moderations share. */
import { Schema } from "effect"

/** A secret option: 16 to 4,096 visible ASCII characters. Decodes to `Redacted`. */
export const Secret = Schema.RedactedFromValue(
  Schema.String.check(Schema.makeFilter(
    (text) => /^[\x21-\x7e]{16,4096}$/.test(text),
    { expected: "a secret of 16 to 4096 visible ASCII characters without spaces" }
  )),
  { disallowEncode: true }
)

/** An http or https URL without user name and fragment. */
export const Url = Schema.String.check(Schema.makeFilter(
  (text) => {
    const url = URL.parse(text)
    return url !== null && (url.protocol === "https:" || url.protocol === "http:") && url.username === "" &&
      url.password === "" && !text.includes("#")
  },
  { expected: "an http or https URL without user name and fragment" }
))

/** Fields of the options of every moderation. Times are text, such as `10 seconds`. */
export const fields = {
  /** Whether the moderation is in a private network: HTTP and private addresses are allowed. Default `false`. */
  private: Schema.optionalKey(Schema.Boolean),
  /** Time limit of a request: resolve, connect, write and read the response. Default 10 seconds. */
  timeout: Schema.optionalKey(Schema.DurationFromString),
  /** Effect of a failed check: see `OnFailure` of `Moderation`. Default `reject`. */
  on_failure: Schema.optionalKey(Schema.Literals(["reject", "accept"])),
  /** Bytes of a file that is sent. Of a longer image, a smaller copy is sent. Default 4 MiB. */
  file_bytes_max: Schema.optionalKey(Schema.Int.check(Schema.isGreaterThan(0)))
} as const

/** Returns whether a URL may be called: over HTTPS, unless it is private. */
export const isAllowed = (url: string, isPrivate: boolean | undefined): boolean =>
  isPrivate === true || url.startsWith("https:")

/** Description of the rule of `isAllowed`. */
export const allowed = "an https URL, unless private is true"
