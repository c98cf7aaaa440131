import { Process } from "@kinora/hosting"
import * as WorkerHost from "./WorkerHost.ts"

Process.runHost({
  name: "kinora-worker",
  description: "Runs Kinora jobs and sends webhooks.",
  json: "{\"workers\":…}",
  workers: "Concurrent jobs in this process",
  layer: (settings, say) =>
    WorkerHost.layer(
      settings,
      say({
        page:
          `The Kinora worker is ready: ${settings.workers} concurrent jobs, ${settings.webhookSends} concurrent webhook sends.`,
        json: { workers: settings.workers }
      })
    )
})
