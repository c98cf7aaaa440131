/** Mails that are sent in the background, and a digest at each full hour. Both solutions have this interface. */
import type { Pool, PoolClient } from "pg"

/** A mail. */
export type Mail = {
  readonly to: string
  readonly subject: string
}

/** Sends mails. If it rejects, a mail is sent again, up to five times in total. */
export interface MailServer {
  readonly send: (mail: Mail) => Promise<void>
  /** Sends the digest of an hour. */
  readonly digest: (hour: string) => Promise<void>
}

/** The mails of this process. */
export interface Mails {
  /** Queues a mail in a transaction. */
  readonly queue: (mail: Mail, tx: PoolClient) => Promise<unknown>
  readonly close: () => Promise<void>
}

/** Creates or updates the tables, and sends queued mails and digests until `close`. */
export type OpenMails = (pool: Pool, server: MailServer) => Promise<Mails>
