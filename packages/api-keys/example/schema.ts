import { createApiKeys } from "@kinora/api-keys/promise"

// The tables are "auth".api_keys_key and "auth".api_keys_owner, whatever the search_path of the connection is.
const keys = await createApiKeys({ url: process.env["DATABASE_URL"]!, schema: "auth" })
const { key } = await keys.create({ owner: "ada", name: "laptop" })
console.log((await keys.verify({ key }))?.name) // laptop
await keys.close()
