/** Probes of servers, which `kinora doctor` sends. */
import { Probe } from "@kinora/http-server"
import { UrlSigner } from "@kinora/storage"
import { DateTime, Effect, Option } from "effect"
import * as Keys from "./Keys.ts"

/** Makes the URL of a probe of an origin, which takes some seconds and is valid for two minutes. */
export type ProbeUrl = (origin: string, seconds: number) => Effect.Effect<string>

/** Returns the function that makes URLs of probes, unless the settings and the data directory have no URL signing key. */
export const findUrl = (settings: Keys.KeySettings): Effect.Effect<Option.Option<ProbeUrl>> =>
  Effect.map(
    Keys.findUrlSigning(settings),
    Option.map((keys): ProbeUrl => {
      const signer = UrlSigner.make({ keys })
      return (origin, seconds) =>
        Effect.map(
          DateTime.now,
          (now) => UrlSigner.urlOf(signer, origin, Probe.pathOf(seconds), DateTime.add(now, { minutes: 2 }))
        )
    })
  )
