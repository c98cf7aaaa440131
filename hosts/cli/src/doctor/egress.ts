/** The check of the way from this host to the receivers of webhooks. */
import { type Settings, Webhook } from "@kinora/hosting"
import { Effect, Option } from "effect"
import * as Finding from "./Finding.ts"

/** Checks that webhooks of this host reach a receiver. */
export const checkEgress = (settings: Settings.Settings, url: Option.Option<string>) =>
  Option.match(url, {
    onNone: () => Effect.succeed(Finding.skipped("webhooks", "name the URL of a receiver with --webhook-url")),
    onSome: (url) =>
      Effect.map(Webhook.reach(settings, url), ({ httpStatus, reason }) =>
        httpStatus === null
          ? Finding.failure(
            "webhooks",
            `${url} is not reached: ${reason}`,
            "Check the name, the certificate and the firewall; reasons are explained in docs/reference/webhooks.md"
          )
          : Finding.ok("webhooks", `${url} responds with ${httpStatus} to an empty request`))
  })
