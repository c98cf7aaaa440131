/** The header of a trusted proxy, from the settings. */
import { Effect } from "effect"
import { type Values, variableOf } from "./definitions.ts"
import { invalid, type InvalidSettings } from "./problems.ts"

/** Returns the header in lower case. Fails without trusted proxies: every client could send it. */
export const proxyUserHeaderOf = (
  { proxy_user_header: header, trusted_proxies: proxies = [] }: Values
): Effect.Effect<string | undefined, InvalidSettings> =>
  header !== undefined && proxies.length === 0
    ? Effect.fail(invalid(variableOf("proxy_user_header"), `needs ${variableOf("trusted_proxies")}`))
    : Effect.succeed(header?.toLowerCase())
