/** The events that the receiver has stored. */
import { service } from "../../service.ts"

/** Returns the type and the parcel of each event. */
export const GET = async (): Promise<Response> => {
  const { pool } = await service()
  const { rows } = await pool.query<object>("SELECT type, parcel FROM received ORDER BY parcel")
  return Response.json(rows)
}

/** Next must not respond from a cache. */
export const dynamic = "force-dynamic"
