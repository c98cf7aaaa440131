/**
 * The ids of jobs in the tables. The primary key is a UUID. A job whose id is another text has that text in the column `own_id`,
 * and its key is derived from it, so that the text is found by the primary key. `scheduler_add_job` derives it in SQL.
 */
import * as Rows from "@kinora/persistence/Rows"
import { sha256 } from "@noble/hashes/sha2.js"
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js"
import type { Statement } from "effect/sql"
import { isUuid, type JobId } from "../ids.ts"

/** Returns the key of a job: its id if that is a UUID, else a UUID of version 8 with 122 bits of the SHA-256 of the text. */
export const keyOf = (job: JobId): string => isUuid(job) ? job : derived(job)

/** The keys of jobs, as a parameter. */
export const keys = (jobs: ReadonlyArray<JobId>): Statement.Fragment => Rows.array("uuid", jobs.map(keyOf))

/** The column of a set of rows with the keys of jobs. */
export const keyColumn: Rows.Column<{ readonly job: JobId }> = ["uuid", ({ job }) => keyOf(job)]

/** The column of a set of rows with the ids that are not UUIDs. */
export const ownIdColumn: Rows.Column<{ readonly job: JobId }> = ["text?", ({ job }) => isUuid(job) ? undefined : job]

/** SQL expression for the id of the row `job`. */
export const idInSql = "coalesce(job.own_id, job.id::text)"

/** Returns the jobs with these ids, without those whose key an id shares that is another text. Postgres reads UUIDs in any case. */
export const withIds = <Job extends { readonly job: JobId }>(
  found: ReadonlyArray<Job>,
  ids: ReadonlyArray<JobId>
): ReadonlyArray<Job> => {
  const wanted = new Set(ids.map((id) => isUuid(id) ? id.toLowerCase() : id))
  return found.filter(({ job }) => wanted.has(job))
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const derived = (text: string): string => {
  const bytes = sha256(utf8ToBytes(text)).subarray(0, 16)
  // The version and the variant of RFC 9562.
  bytes[6] = (bytes[6]! & 0x0f) | 0x80
  bytes[8] = (bytes[8]! & 0x3f) | 0x80
  const hex = bytesToHex(bytes)
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-")
}
