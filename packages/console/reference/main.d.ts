import "@scalar/api-reference/style.css"
import "./reference.css"
// # sourceMappingURL=main.d.ts.map
