export * as ClipSize from "./ClipSize.ts"
export * as PictureSize from "./PictureSize.ts"
export * as ProceduralDriver from "./ProceduralDriver.ts"
export * as ProceduralGenerator from "./ProceduralGenerator.ts"
