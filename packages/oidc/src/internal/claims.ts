/** The claims about a person in an ID token, and in the response of the user info endpoint. */
import type { Person } from "@kinora/sessions/IdentityProviders"
import type { OidcProvider } from "../OidcOptions.ts"

/** Claims by name. */
export type Claims = Readonly<Record<string, unknown>>

/**
 * Returns the person of verified claims. Asks the user info endpoint for claims that the ID token does not have, if the
 * provider has one: some providers return only the subject in the ID token.
 */
export const personOf = async (
  issuer: string,
  token: Claims & { readonly sub: string },
  { groups, groups_claim: groupsClaim = "groups" }: Pick<OidcProvider, "groups" | "groups_claim">,
  readUserInfo: (() => Promise<Claims>) | undefined
): Promise<Person> => {
  const needsEmail = token["email"] === undefined || token["email_verified"] === undefined
  const needsGroups = groups !== undefined && token[groupsClaim] === undefined
  const more = readUserInfo !== undefined && (needsEmail || needsGroups) ? await readUserInfo() : {}
  return {
    issuer,
    subject: token.sub,
    // Both claims of one source: a provider verifies the address that it returns with the claim.
    ...emailOf(needsEmail && more["email"] !== undefined ? more : token),
    groups: groupsOf(token[groupsClaim] ?? more[groupsClaim])
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const emailOf = ({ email, email_verified: verified }: Claims): Pick<Person, "email" | "isEmailVerified"> =>
  typeof email === "string" && email !== ""
    // Some providers return the claim as text.
    ? { email, isEmailVerified: verified === true || verified === "true" }
    : { email: undefined, isEmailVerified: false }

const groupsOf = (claim: unknown): ReadonlyArray<string> => {
  const list: ReadonlyArray<unknown> = Array.isArray(claim) ? claim : [claim]
  return list.filter((group) => typeof group === "string")
}
