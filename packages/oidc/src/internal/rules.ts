/** Rules of the options as those of the port. */
import type { GroupRule } from "@kinora/sessions/IdentityProviders"
import type { OidcProvider } from "../OidcOptions.ts"

/** Returns the rules of a provider. */
export const rulesOf = ({ groups = {} }: Pick<OidcProvider, "groups">): ReadonlyArray<GroupRule> =>
  Object.entries(groups).map(([group, rule]) =>
    "operator" in rule
      ? { group, operator: rule.operator }
      : { group, account: rule.account, role: rule.role ?? "member" }
  )
