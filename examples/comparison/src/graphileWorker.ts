/** Mails with graphile-worker. */
import { run } from "graphile-worker"
import type { Mail, OpenMails } from "./Mails.ts"

declare global {
  namespace GraphileWorker {
    interface Tasks {
      mail: Mail
      digest: { readonly _cron: { readonly ts: string } }
    }
  }
}

/** Creates or updates the tables, and sends queued mails and digests until `close`. */
export const openMails: OpenMails = async (pool, { digest, send }) => {
  const runner = await run({
    pgPool: pool,
    noHandleSignals: true,
    taskList: {
      mail: (mail) => send(mail),
      digest: ({ _cron }) => digest(_cron.ts)
    },
    crontab: "0 * * * * digest ?fill=1d"
  })
  return {
    queue: (mail, tx) => tx.query("SELECT graphile_worker.add_job('mail', $1, max_attempts => 5)", [mail]),
    close: () => runner.stop()
  }
}
