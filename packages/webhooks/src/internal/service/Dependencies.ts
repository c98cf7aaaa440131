/** The services that `Webhooks` requires, and its limits. */
import { AddressGuard } from "@kinora/address-guard/AddressGuard"
import { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import { Effect } from "effect"
import { SecureRandom } from "effect/crypto"
import { SecretBox } from "../../SecretBox.ts"
import { Wakeup } from "../../Wakeup.ts"
import { WebhookStore } from "../../WebhookStore.ts"
import * as Limits from "./limits.ts"

/** Services and limits that all methods of `Webhooks` share. */
export type Dependencies = Effect.Success<ReturnType<typeof make>>

/** Reads the services from the context. */
export const make = Effect.fnUntraced(function*(options: Limits.WebhooksOptions) {
  return {
    limits: Limits.of(options),
    unitOfWork: yield* UnitOfWork,
    guard: yield* AddressGuard,
    box: yield* SecretBox,
    random: yield* SecureRandom.SecureRandom,
    store: yield* WebhookStore,
    wakeup: yield* Wakeup
  }
})
