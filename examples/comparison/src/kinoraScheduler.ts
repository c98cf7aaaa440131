/** Mails with `@kinora/scheduler`. */
import { createScheduler, type Job } from "@kinora/scheduler/promise"
import type { Mail, OpenMails } from "./Mails.ts"

/** Creates or updates the tables, and sends queued mails and digests until `close`. */
export const openMails: OpenMails = async (pool, { digest, send }) => {
  const scheduler = await createScheduler({ pool })
  await scheduler.work({
    name: "mails",
    handlers: {
      mail: { run: ({ payload }: Job<Mail>) => send(payload), retry: { attempts: 5 } },
      digest: ({ payload }: Job<string>) => digest(payload)
    }
  })
  const payload = (hour: Date) => hour.toISOString()
  await scheduler.schedule({
    schedules: [{ lane: "digest", group: "digest", cap: 1, kind: "digest", name: "digest", cron: "0 * * * *", payload }]
  })
  return {
    queue: ({ subject, to }, tx) =>
      scheduler.enqueue({ lane: to, group: "mails", cap: 1, kind: "mail", payload: { to, subject }, tx }),
    close: () => scheduler.close()
  }
}
