/** Builds the template of new databases in `dist`. */
import { writeTemplate } from "./newDatabase.ts"

await writeTemplate()
