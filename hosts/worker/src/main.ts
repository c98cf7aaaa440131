import { Process } from "@kinora/hosting"
import * as WorkerHost from "./WorkerHost.ts"

Process.runHost({
  name: "kinora-worker",
  description: "Runs Kinora jobs and sends webhooks.",
  json: "{\"workers\":…}",
  workers: "Jobs at once in this process",
  layer: (settings, say) =>
    WorkerHost.layer(
      settings,
      say({
        page: `The Kinora worker is ready for ${settings.workers} jobs and ${settings.webhookSends} webhooks at once.`,
        json: { workers: settings.workers }
      })
    )
})
