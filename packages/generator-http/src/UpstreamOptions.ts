/** Options that all drivers of this package share. A driver spreads `fields` into its options schema. */
import { Schema } from "effect"

/** The address of an API, such as `https://api.example.com/v1`. Paths of calls are appended to it. */
export const BaseUrl = Schema.String.check(Schema.makeFilter(
  (text) => {
    const url = URL.parse(text)
    return url !== null && (url.protocol === "https:" || url.protocol === "http:") &&
      url.username === "" && url.password === "" && !/[?#]/.test(text)
  },
  { expected: "an http or https URL without user name, query and fragment" }
))

const Count = Schema.Int.check(Schema.isGreaterThan(0))

/** Fields of the options of every driver. Times are text, such as `30 seconds`. */
export const fields = {
  /**
   * Whether the upstream is in a private network: its results may be at private addresses, over
   * HTTP and on every port. `base_url` itself may always be private. Default `false`.
   */
  private: Schema.optionalKey(Schema.Boolean),
  /** Time limit of a call. Default 30 seconds. */
  call_timeout: Schema.optionalKey(Schema.DurationFromString),
  /** Time limit between two parts of a result. Default 30 seconds. */
  idle_timeout: Schema.optionalKey(Schema.DurationFromString),
  /** Concurrent connections to the upstream. Default 64. */
  connections_max: Schema.optionalKey(Count),
  /** Bytes of a response, without results. Default 1 MiB. */
  response_bytes_max: Schema.optionalKey(Count),
  /** Bytes of a result. Default 1 GiB. */
  result_bytes_max: Schema.optionalKey(Count)
} as const

/** Options with the defaults of this package where they are absent. */
export interface UpstreamOptions extends Schema.Struct.Type<typeof fields> {}
