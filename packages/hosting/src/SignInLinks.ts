/** The sign-in links that a start prints for the person who has started the server. */
import { Accounts } from "@kinora/accounts"
import { SignInLinks } from "@kinora/http-server"
import { type Session, Sessions } from "@kinora/sessions"
import { Effect, Option, type Redacted } from "effect"
import type { Settings } from "./Settings.ts"

/** Sign-in links. `None` if the service has no such account or operator, or the console is off. */
export interface StartLinks {
  /** Of the demo account. */
  readonly account: Option.Option<string>
  /** Of the operator that `KINORA_ADMIN_TOKEN` authenticates. */
  readonly operator: Option.Option<string>
}

/** No links. */
export const none: StartLinks = { account: Option.none(), operator: Option.none() }

/** Options for `make`. */
export interface StartLinksOptions {
  readonly settings: Settings
  /** Origin of the API for clients. */
  readonly clientUrl: string
  /** Origin of the listener for operators. */
  readonly operatorUrl: Option.Option<string>
  /** Key of the demo account. */
  readonly apiKey: Option.Option<Redacted.Redacted>
}

/** Creates the links. A start does not fail because of them. */
export const make = Effect.fn("SignInLinks.make")(
  function*({ apiKey, clientUrl, operatorUrl, settings: { adminToken, console } }: StartLinksOptions) {
    if (!console) return none
    const accounts = yield* Accounts.Accounts
    const { createCode } = yield* Sessions.Sessions
    const linkOf = (origin: string, grant: Session.Grant) =>
      Effect.map(createCode(grant), ({ code }) => Option.some(SignInLinks.linkOf(origin, code)))

    const identity = Option.isSome(apiKey) ? yield* accounts.authenticate(apiKey.value) : Option.none()
    return {
      account: Option.isSome(identity)
        ? yield* linkOf(clientUrl, {
          scope: "account",
          account: identity.value.account.id,
          role: "member",
          member: null
        })
        : Option.none(),
      operator: adminToken !== undefined && Option.isSome(operatorUrl)
        ? yield* linkOf(operatorUrl.value, {
          scope: "operator",
          operator: yield* SignInLinks.ownerOf(adminToken),
          role: "owner"
        })
        : Option.none()
    }
  },
  Effect.catchTags({
    SessionsError: () => Effect.succeed(none),
    StorageError: (error) => Effect.as(Effect.logWarning("The sign-in links could not be created", error), none)
  })
)
