import { Media } from "@kinora/media"
import { TestDatabase } from "@kinora/testkit"
import { layerSql } from "./Assembly.ts"
import { suite as crashes } from "./CrashesContract.ts"
import { suite } from "./ImagesContract.ts"

for (const [name, database] of TestDatabase.all) {
  suite(name, layerSql(database, {}, Media.layer()))
  crashes(name, layerSql(database, {}, Media.layer()))
}
