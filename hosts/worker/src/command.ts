/** The worker as a command. */
import { Process } from "@kinora/hosting"
import { Option } from "effect"
import * as WorkerHost from "./WorkerHost.ts"

/** Prints a sentence when the worker is ready, or a line of JSON. */
export const workerCommand = Process.command({
  name: "kinora-worker",
  servesClients: false,
  description: "Runs Kinora jobs and sends webhooks.",
  json: "{\"workers\":…,\"operator_url\":…}",
  workers: "Concurrent jobs in this process",
  layer: (settings, say) =>
    WorkerHost.layer(settings, (operatorUrl) => {
      const operator = Option.getOrNull(operatorUrl)
      return say({
        page:
          `The Kinora worker is ready: ${settings.workers} concurrent jobs, ${settings.webhookSends} concurrent webhook sends, ` +
          (operator === null ? "no listener for operators." : `metrics at ${operator}/metrics.`),
        json: { workers: settings.workers, operator_url: operator }
      })
    })
})
