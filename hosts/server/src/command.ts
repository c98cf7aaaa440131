/** The server as a command. */
import { Process } from "@kinora/hosting"
import * as banner from "./banner.ts"
import * as ServerHost from "./ServerHost.ts"

/** Prints a page with the addresses when the server is ready, or a line of JSON. */
export const serverCommand = Process.command({
  name: "kinora-server",
  servesClients: true,
  description: "Serves the Kinora API, runs jobs and sends webhooks.",
  json: "{\"base_url\":…,\"operator_url\":…,\"api_key\":…}",
  workers: "Concurrent jobs in this process; 0 if only other processes run jobs",
  layer: (settings, say, { index }) =>
    ServerHost.layer(
      settings,
      (ready) => say({ page: banner.page(ready, settings), json: banner.json(ready) }),
      { isInteractive: process.stdout.isTTY && index === 0 }
    ),
  join: banner.join
})
