/** Statements on members. */
import { Rows } from "@kinora/persistence"
import { DateTime, Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import { type Identity, type Member, MemberId, MemberRole } from "../../Member.ts"

/** Inserts a member. */
export const insert = (sql: SqlClient.SqlClient, member: Member) =>
  sql`
    INSERT INTO sessions_member (id, account, issuer, subject, email, role, created_at)
    VALUES (
      ${MemberId.toUuid(member.id)}, ${member.account}, ${member.issuer}, ${member.subject}, ${member.email},
      ${member.role}, ${DateTime.toDate(member.createdAt)}
    )
  `.pipe(Effect.asVoid)

/** Lists the members of an account, newest first. */
export const list = (sql: SqlClient.SqlClient, account: string) =>
  sql`SELECT ${columns(sql)} FROM sessions_member WHERE account = ${account} ORDER BY id DESC`.pipe(
    decodeMembers,
    Effect.map((rows) => rows.map(toMember))
  )

/** Lists the members with an identity, newest first. */
export const find = (sql: SqlClient.SqlClient, { issuer, subject }: Identity) =>
  sql`
    SELECT ${columns(sql)} FROM sessions_member WHERE issuer = ${issuer} AND subject = ${subject} ORDER BY id DESC
  `.pipe(decodeMembers, Effect.map((rows) => rows.map(toMember)))

/** Finds a member. */
export const findOne = (sql: SqlClient.SqlClient, id: MemberId) =>
  sql`SELECT ${columns(sql)} FROM sessions_member WHERE id = ${MemberId.toUuid(id)}`.pipe(
    decodeMembers,
    Rows.first(toMember)
  )

/** Sets the identity of a member. */
export const saveIdentity = (sql: SqlClient.SqlClient, id: MemberId, { issuer, subject }: Identity) =>
  sql`
    UPDATE sessions_member SET issuer = ${issuer}, subject = ${subject} WHERE id = ${MemberId.toUuid(id)}
  `.pipe(Effect.asVoid)

/** Sets the role of a member. */
export const saveRole = (sql: SqlClient.SqlClient, id: MemberId, role: MemberRole) =>
  sql`UPDATE sessions_member SET role = ${role} WHERE id = ${MemberId.toUuid(id)}`.pipe(Effect.asVoid)

/** Deletes members. */
export const remove = (sql: SqlClient.SqlClient, ids: ReadonlyArray<MemberId>) =>
  sql`DELETE FROM sessions_member WHERE id = ANY(${Rows.array("uuid", ids.map(MemberId.toUuid))})`.pipe(Effect.asVoid)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const columns = (sql: SqlClient.SqlClient) => sql.literal("id, account, issuer, subject, email, role, created_at")

const MemberRow = Schema.Struct({
  id: Schema.String,
  account: Schema.String,
  issuer: Schema.String,
  subject: Schema.String,
  email: Schema.String,
  role: MemberRole,
  created_at: Rows.timestamptz
})

const decodeMembers = Rows.decodeAll(MemberRow)

const toMember = ({ created_at: createdAt, id, ...row }: typeof MemberRow.Type): Member => ({
  ...row,
  id: MemberId.fromUuid(id),
  createdAt
})
