/**
 * The port of identity providers, with which people sign in. A driver such as `@kinora/oidc` implements it.
 *
 * A sign-in leads the browser to the provider and back. The host binds it to the browser, and decides what the person may
 * do. The driver verifies the response of the provider.
 */
import { Context, Data, type Effect } from "effect"
import type { Identity, MemberRole } from "./Member.ts"
import type { OperatorRole } from "./Session.ts"

/** Values of one sign-in, from the time at which the browser leaves until it comes back. */
export interface SignInAttempt {
  /** The URL to which the provider sends the browser. It is registered with the provider. */
  readonly redirectUri: string
  /** Binds the response of the provider to the browser. */
  readonly state: string
  /** Binds the ID token to the sign-in. */
  readonly nonce: string
  /** The secret of PKCE: 43 to 128 characters of `A-Z a-z 0-9 - . _ ~`. Only its digest is in the URL of the browser. */
  readonly verifier: string
}

/** A person whom a provider has authenticated. */
export interface Person extends Identity {
  /** The e-mail address, if the provider returns one. */
  readonly email: string | undefined
  /** Whether the provider has verified that the address belongs to the person. */
  readonly isEmailVerified: boolean
  /** The groups of the person at the provider. */
  readonly groups: ReadonlyArray<string>
}

/** Rights of the people of a group. `account` is the e-mail address or the id of an account, in the host's terms. */
export type GroupRule =
  | { readonly group: string; readonly operator: OperatorRole }
  | { readonly group: string; readonly account: string; readonly role: MemberRole }

/** The provider does not respond, or its response is not one of a provider. Sign-ins can succeed later. */
export class ProviderUnavailable extends Data.TaggedError("ProviderUnavailable")<{
  readonly provider: string
  /** For operators. Contains no secrets. */
  readonly problem: string
}> {
  override get message(): string {
    return `The identity provider ${this.provider} is unavailable: ${this.problem}`
  }
}

/**
 * The provider did not authenticate the person. `denied`: the person or the provider has refused. `rejected`: the response
 * does not belong to this sign-in, was used before, or is not valid.
 */
export class SignInRejected extends Data.TaggedError("SignInRejected")<{
  readonly provider: string
  readonly reason: "denied" | "rejected"
  /** For operators. Contains no secrets. */
  readonly problem: string
}> {
  override get message(): string {
    return `A sign-in with the identity provider ${this.provider} was ${this.reason}: ${this.problem}`
  }
}

/** An identity provider. */
export interface IdentityProvider {
  /** Its id in URLs and in the ids of operators: 1 to 32 characters of `a-z 0-9 -`. */
  readonly id: string
  /** Its name, for people. */
  readonly name: string
  readonly rules: ReadonlyArray<GroupRule>
  /** Returns the URL at the provider at which the person signs in. */
  readonly begin: (attempt: SignInAttempt) => Effect.Effect<string, ProviderUnavailable>
  /** Verifies the query with which the provider has sent the browser back, and returns the person. A query works once. */
  readonly complete: (
    attempt: SignInAttempt,
    query: string
  ) => Effect.Effect<Person, ProviderUnavailable | SignInRejected>
}

/** The identity providers of a host, in the order of the sign-in page. Default: none. */
export const IdentityProviders = Context.Reference<ReadonlyArray<IdentityProvider>>(
  "@kinora/sessions/IdentityProviders",
  { defaultValue: () => [] }
)
