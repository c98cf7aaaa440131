/** The part of the operator API that is about the process that responds. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { operate } from "./internal/adminOperation.ts"
import { int, list, nullable, object, text } from "./internal/fields.ts"

/** A setting of a server. */
export const AdminSetting = object("AdminSetting", "A setting of the server.", {
  variable: text("The name of the variable, `KINORA_…`."),
  value: nullable(Schema.String, "The value; `(secret)` for a secret, `null` if the setting has none."),
  source: text("Where the value comes from: the variable, the key of the configuration file, or `default`.")
})

/** The settings of a server. */
export const AdminConfiguration = object("AdminConfiguration", "The settings of the server that responds.", {
  data: list(AdminSetting, "Every setting, in the order of the reference page.")
})

/** The disk of a server. */
export const AdminDisk = object("AdminDisk", "The disk with the data directory of the server.", {
  free_bytes: int("Bytes that the server can still write."),
  total_bytes: int("The size of the disk.")
})

/** The storage of a server. */
export const AdminStorage = object("AdminStorage", "The storage of the server that responds.", {
  disk: nullable(AdminDisk, "The disk with the files, and with the embedded database; `null` if it cannot be read.")
})

/** Shows the settings and the storage of the server that responds. */
export class AdminSystem extends HttpApiGroup.make("system").add(
  operate(
    "auditor",
    "Show the configuration",
    "Every setting of the server that responds, its value and where it comes from, without secrets, as " +
      "`kinora config show` prints them. They are read once, at the start.",
    [],
    (error) => HttpApiEndpoint.get("getConfiguration", "/configuration", { success: AdminConfiguration, error })
  ),
  operate(
    "auditor",
    "Show the storage",
    "The space on the disk with the data directory of the server that responds.",
    [],
    (error) => HttpApiEndpoint.get("getStorage", "/storage", { success: AdminStorage, error })
  )
).annotate(OpenApi.Description, "Show the settings and the storage of the server that responds.") {}
