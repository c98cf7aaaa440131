/** The command of the process. */
import { NodeRuntime, NodeServices } from "@effect/platform-node"
import { Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { FetchHttpClient } from "effect/http"
import * as ExitCode from "./ExitCode.ts"
import * as Kinora from "./Kinora.ts"

/** Runs the command with the arguments of the process. */
export const runCommand = (): void =>
  Kinora.run(process.argv.slice(2)).pipe(
    Effect.provide(Layer.mergeAll(NodeServices.layer, FetchHttpClient.layer, SecureRandom.layerWebCrypto)),
    NodeRuntime.runMain({ disableErrorReporting: true, teardown: ExitCode.teardown })
  )
