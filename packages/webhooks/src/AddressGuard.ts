/**
 * Keeps requests on other people's behalf away from where they have no business:
 * the own network, this machine, the service's own domains (D44).
 */
import { Context, type Effect, Schema } from "effect"

/** Why a URL may not be called. `dns`: its host has no address now. */
export class AddressRefused extends Schema.TaggedError<AddressRefused>("@kinora/webhooks/AddressRefused")(
  "AddressRefused",
  {
    problem: Schema.Literals(["url", "scheme", "port", "user_info", "own_domain", "address", "dns"]),
    /** For people: what is wrong and what to do. Never an address of the own network. */
    message: Schema.String
  }
) {}

/** A URL that may be called, and the address to connect to. */
export interface Target {
  readonly url: URL
  /** The address that was checked: the connection goes there, whatever the name says a moment later. */
  readonly address: string
  readonly family: 4 | 6
}

/** Checks URLs. */
export class AddressGuard extends Context.Service<AddressGuard, {
  /** Looks the host up and checks every address that it has. Refuses when it cannot be looked up. */
  readonly check: (url: string) => Effect.Effect<Target, AddressRefused>
}>()("@kinora/webhooks/AddressGuard") {}
