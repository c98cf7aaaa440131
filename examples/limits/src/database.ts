/** The tables of the hotel, for Drizzle on a pool of `pg`. */
import { drizzle, type NodePgDatabase } from "drizzle-orm/node-postgres"
import { date, integer, pgTable, serial, text, unique } from "drizzle-orm/pg-core"
import { Pool } from "pg"

/** Nights that accounts have booked. A room has one guest per night. */
export const bookings = pgTable("booking", {
  id: serial().primaryKey(),
  account: text().notNull(),
  room: integer().notNull(),
  night: date().notNull()
}, (table) => [unique("booking_room_night").on(table.room, table.night)])

/** Drizzle on its pool. */
export type Database = NodePgDatabase & { readonly $client: Pool }

/** Opens Drizzle on a pool of connections, and creates the tables if they are missing. */
export const openDatabase = async (connectionString: string): Promise<Database> => {
  const pool = new Pool({ connectionString, max: 20 })
  // A lost connection fails the statement that uses it. The event would end the process if nothing listened.
  pool.on("connect", (client) => client.on("error", () => {}))
  pool.on("error", () => {})
  const db = drizzle({ client: pool })
  await db.execute(`
    CREATE TABLE IF NOT EXISTS booking (
      id serial PRIMARY KEY, account text NOT NULL, room int NOT NULL, night date NOT NULL,
      CONSTRAINT booking_room_night UNIQUE (room, night)
    )`)
  return db
}
