// swift-tools-version: 6.2
import PackageDescription

// A package of its own, so that what the store is compared with never reaches who uses the store.
//
// One executable for each group of benchmarks: `run --only engine` then builds neither GRDB nor any
// other peer. `run` builds through `Tools/swift`, which names the plug-in of the macros.
let macroPlugin = Context.environment["LOGSTORE_MACRO_PLUGIN"]

// `run` looks for what the peers need, and leaves out those whose needs are not met.
let hasGRDB = Context.environment["LOGSTORE_BENCHMARK_GRDB"] != nil

let swiftSettings: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
]

let macroUserSettings: [SwiftSetting] =
  swiftSettings
  + (macroPlugin.map { [.unsafeFlags(["-load-plugin-library", $0])] } ?? [])

let package = Package(
  name: "Benchmarks",
  platforms: [.macOS(.v15)],
  products: [
    .executable(name: "engine-benchmarks", targets: ["EngineBenchmarks"]),
    .executable(name: "models-benchmarks", targets: ["ModelBenchmarks"]),
  ],
  dependencies: [
    .package(name: "logstore", path: "..")
  ]
    + (hasGRDB ? [.package(url: "https://github.com/groue/GRDB.swift", exact: "7.10.0")] : []),
  targets: [
    .target(name: "Workloads", swiftSettings: swiftSettings),
    .systemLibrary(name: "CAllocator"),
    .target(name: "Harness", dependencies: ["CAllocator"], swiftSettings: swiftSettings),
    .target(name: "Floor", dependencies: ["Harness", "Workloads"], swiftSettings: swiftSettings),
    .target(
      name: "EngineStore",
      dependencies: ["Workloads", .product(name: "LogEngine", package: "logstore")],
      swiftSettings: swiftSettings
    ),
    .executableTarget(
      name: "EngineBenchmarks",
      dependencies: [
        "EngineStore", "Floor", "Harness", "Workloads",
        .product(name: "LogEngine", package: "logstore"),
      ],
      path: "Sources/Engine",
      swiftSettings: swiftSettings
    ),
    .executableTarget(
      name: "ModelBenchmarks",
      dependencies: [
        "Floor", "Harness", "Workloads",
        .product(name: "JSONStore", package: "logstore"),
        .product(name: "SwiftData", package: "logstore"),
      ] + (hasGRDB ? [.product(name: "GRDB", package: "GRDB.swift")] : []),
      path: "Sources/Models",
      swiftSettings: macroUserSettings + (hasGRDB ? [.define("GRDB")] : [])
    ),
  ],
  swiftLanguageModes: [.v6]
)
