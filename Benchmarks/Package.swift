// swift-tools-version: 6.2
import PackageDescription

// A package of its own, so that what the store is compared with never reaches who uses the store.
//
// One executable for each group of benchmarks: `run --only engine` then builds neither GRDB nor any
// other peer. `run` builds through `Tools/swift`, which names the plug-in of the macros.
let macroPlugin = Context.environment["LOGSTORE_MACRO_PLUGIN"]

// `run` looks for the libraries of the peers, and names those that are there.
let peers = (Context.environment["LOGSTORE_BENCHMARK_PEERS"] ?? "")
  .split(separator: " ").map(String.init)
// GRDB stands on SQLite.
let hasGRDB = peers.contains("SQLite")
let grdbSettings: [SwiftSetting] = hasGRDB ? [.define("GRDB")] : []
let hasSQLite = peers.contains("SQLite")
let sqliteSettings: [SwiftSetting] = hasSQLite ? [.define("SQLITE")] : []

// Nobody else has to have libpq: only the group `postgres` asks for the trait.
let hasServer = Context.environment["LOGSTORE_BENCHMARK_SERVER"] != nil

let swiftSettings: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
]

let macroUserSettings: [SwiftSetting] =
  swiftSettings
  + (macroPlugin.map { [.unsafeFlags(["-load-plugin-library", $0])] } ?? [])

// Models on a PostgreSQL server, beside SQL by hand.
let serverTargets: [Target] =
  hasServer
  ? [
    .systemLibrary(name: "CPQ", pkgConfig: "libpq", providers: [.apt(["libpq-dev"])]),
    .executableTarget(
      name: "PostgresBenchmarks",
      dependencies: [
        "CPQ", "GRDBPeer", "Harness", "Workloads",
        .product(name: "PostgresStore", package: "logstore"),
        .product(name: "SwiftData", package: "logstore"),
      ],
      path: "Sources/Postgres",
      swiftSettings: macroUserSettings + grdbSettings
    ),
  ] : []

let package = Package(
  name: "Benchmarks",
  platforms: [.macOS(.v15)],
  products: [
    .executable(name: "aggregates-benchmarks", targets: ["AggregateBenchmarks"]),
    .executable(name: "batches-benchmarks", targets: ["BatchBenchmarks"]),
    .executable(name: "engine-benchmarks", targets: ["EngineBenchmarks"]),
    .executable(name: "memory-benchmarks", targets: ["MemoryBenchmarks"]),
    .executable(name: "mixes-benchmarks", targets: ["MixBenchmarks"]),
    .executable(name: "models-benchmarks", targets: ["ModelBenchmarks"]),
    .executable(name: "packs-benchmarks", targets: ["PackBenchmarks"]),
    .executable(name: "peers-benchmarks", targets: ["PeerBenchmarks"]),
    .executable(name: "processes-benchmarks", targets: ["ProcessBenchmarks"]),
    .executable(name: "queries-benchmarks", targets: ["QueryBenchmarks"]),
    .executable(name: "questions-benchmarks", targets: ["QuestionBenchmarks"]),
    .executable(name: "relations-benchmarks", targets: ["RelationBenchmarks"]),
    .executable(name: "text-benchmarks", targets: ["TextBenchmarks"]),
    .executable(name: "scale-benchmarks", targets: ["ScaleBenchmarks"]),
    .executable(name: "service-benchmarks", targets: ["ServiceBenchmarks"]),
    .executable(name: "operation-counts", targets: ["Operations"]),
    .executable(name: "growth-check", targets: ["Growth"]),
    .executable(name: "start-benchmarks", targets: ["StartBenchmarks"]),
    .executable(name: "steady-benchmarks", targets: ["SteadyBenchmarks"]),
    .executable(name: "tenants-benchmarks", targets: ["TenantBenchmarks"]),
    .executable(name: "benchmark-report", targets: ["BenchmarkReport"]),
  ]
    + (hasServer
      ? [.executable(name: "postgres-benchmarks", targets: ["PostgresBenchmarks"])] : []),
  dependencies: [
    .package(name: "logstore", path: "..", traits: hasServer ? ["PostgreSQL"] : [.defaults])
  ]
    + (hasGRDB ? [.package(url: "https://github.com/groue/GRDB.swift", exact: "7.10.0")] : []),
  targets: [
    .target(name: "Workloads", swiftSettings: swiftSettings),
    .systemLibrary(name: "CAllocator"),
    .target(name: "Harness", dependencies: ["CAllocator"], swiftSettings: swiftSettings),
    .target(name: "Reporting", dependencies: ["Harness"], swiftSettings: swiftSettings),
    .executableTarget(
      name: "BenchmarkReport",
      dependencies: ["Harness", "Reporting"],
      path: "Sources/Report",
      swiftSettings: swiftSettings
    ),
    .target(
      name: "Floor",
      dependencies: ["CLZ4Floor", "Harness", "Workloads"],
      swiftSettings: swiftSettings
    ),
    .target(
      name: "EngineStore",
      dependencies: ["Workloads", .product(name: "LogEngine", package: "logstore")],
      swiftSettings: swiftSettings
    ),
    // The stores of others: SQLite's C API, LMDB, LevelDB, RocksDB, as far as they are there.
    .target(
      name: "PeerStores",
      dependencies: [
        "EngineStore", "Harness", "Workloads", .product(name: "LogEngine", package: "logstore"),
      ] + peers.map { .target(name: "C\($0)") },
      swiftSettings: swiftSettings + peers.map { .define($0.uppercased()) }
    ),
    .target(
      name: "GRDBPeer",
      dependencies: ["Harness", "Workloads"]
        + (hasGRDB ? [.product(name: "GRDB", package: "GRDB.swift")] : []),
      swiftSettings: swiftSettings + grdbSettings
    ),
    // Models in a LogStore, as a contender among the others.
    .target(
      name: "ModelStores",
      dependencies: [
        "Harness", "PeerStores", "Workloads", .product(name: "SwiftData", package: "logstore"),
      ],
      swiftSettings: macroUserSettings
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
    .systemLibrary(name: "CLZ4Floor", pkgConfig: "liblz4", providers: [.apt(["liblz4-dev"])]),
    .executableTarget(
      name: "PackBenchmarks",
      dependencies: [
        "CLZ4Floor", "EngineStore", "Floor", "Harness", "ModelStores", "PeerStores", "Workloads",
        .product(name: "LogEngine", package: "logstore"),
        .product(name: "SwiftData", package: "logstore"),
      ],
      path: "Sources/Packs",
      swiftSettings: swiftSettings + peers.map { .define($0.uppercased()) }
    ),
    .executableTarget(
      name: "MixBenchmarks",
      dependencies: ["Harness", "ModelStores", "PeerStores", "Workloads"],
      path: "Sources/Mixes",
      swiftSettings: swiftSettings
    ),
    .executableTarget(
      name: "ModelBenchmarks",
      dependencies: [
        "Floor", "GRDBPeer", "Harness", "Workloads",
        .product(name: "JSONStore", package: "logstore"),
        .product(name: "SwiftData", package: "logstore"),
      ],
      path: "Sources/Models",
      swiftSettings: macroUserSettings + grdbSettings
    ),
    .executableTarget(
      name: "QueryBenchmarks",
      dependencies: [
        "EngineStore", "Floor", "GRDBPeer", "Harness", "ModelStores", "PeerStores", "Workloads",
        .product(name: "LogEngine", package: "logstore"),
        .product(name: "SwiftData", package: "logstore"),
      ],
      path: "Sources/Queries",
      swiftSettings: macroUserSettings + grdbSettings
    ),
    .executableTarget(
      name: "PeerBenchmarks",
      dependencies: [
        "Floor", "GRDBPeer", "Harness", "ModelStores", "PeerStores", "Workloads",
      ],
      path: "Sources/Peers",
      swiftSettings: swiftSettings
    ),
    .executableTarget(
      name: "ScaleBenchmarks",
      dependencies: [
        "Harness", "ModelStores", "Workloads",
        .product(name: "LogEngine", package: "logstore"),
        .product(name: "SwiftData", package: "logstore"),
      ],
      path: "Sources/Scale",
      swiftSettings: macroUserSettings
    ),
    // A database of SQLite's for groups whose tables are their own.
    .target(
      name: "SQLitePeer",
      dependencies: ["Harness"] + (hasSQLite ? [.target(name: "CSQLite")] : []),
      swiftSettings: swiftSettings + sqliteSettings
    ),
    .executableTarget(
      name: "ServiceBenchmarks",
      dependencies: [
        "Harness", "SQLitePeer", "Workloads", .product(name: "SwiftData", package: "logstore"),
      ],
      path: "Sources/Service",
      swiftSettings: macroUserSettings + sqliteSettings
    ),
    .executableTarget(
      name: "RelationBenchmarks",
      dependencies: ["Harness", "SQLitePeer", .product(name: "SwiftData", package: "logstore")],
      path: "Sources/Relations",
      swiftSettings: macroUserSettings + sqliteSettings
    ),
    .executableTarget(
      name: "AggregateBenchmarks",
      dependencies: [
        "Harness", "SQLitePeer", .product(name: "SwiftData", package: "logstore"),
      ],
      path: "Sources/Aggregates",
      swiftSettings: macroUserSettings + sqliteSettings
    ),
    .executableTarget(
      name: "BatchBenchmarks",
      dependencies: ["Harness", "SQLitePeer", .product(name: "SwiftData", package: "logstore")],
      path: "Sources/Batches",
      swiftSettings: macroUserSettings + sqliteSettings
    ),
    .executableTarget(
      name: "QuestionBenchmarks",
      dependencies: [
        "Harness", "SQLitePeer", "Workloads", .product(name: "SwiftData", package: "logstore"),
      ],
      path: "Sources/Questions",
      swiftSettings: macroUserSettings + sqliteSettings
    ),
    .executableTarget(
      name: "TextBenchmarks",
      dependencies: [
        "Harness", "SQLitePeer", "Workloads", .product(name: "SwiftData", package: "logstore"),
      ],
      path: "Sources/Texts",
      swiftSettings: macroUserSettings + sqliteSettings
    ),
    // What small operations cost in allocations and instructions; `micro` holds it to thresholds.
    .target(name: "CCounters"),
    .executableTarget(
      name: "Operations",
      dependencies: [
        "CCounters", .product(name: "LogEngine", package: "logstore"),
        .product(name: "SwiftData", package: "logstore"),
      ],
      exclude: ["thresholds.txt"],
      swiftSettings: macroUserSettings
    ),
    // How the cost of a context's operations grows; `growth` holds it to an exponent.
    .executableTarget(
      name: "Growth",
      dependencies: ["Harness", .product(name: "SwiftData", package: "logstore")],
      swiftSettings: macroUserSettings
    ),
    // What it costs that several processes save to one store.
    .executableTarget(
      name: "ProcessBenchmarks",
      dependencies: ["Harness", .product(name: "SwiftData", package: "logstore")]
        + (hasSQLite ? [.target(name: "CSQLite")] : []),
      path: "Sources/Processes",
      swiftSettings: macroUserSettings + sqliteSettings
    ),
    // Stores of several times the memory that their processes may have.
    .executableTarget(
      name: "MemoryBenchmarks",
      dependencies: [
        "Harness", "ModelStores", "PeerStores", "Workloads",
        .product(name: "LogEngine", package: "logstore"),
      ],
      path: "Sources/Memory",
      swiftSettings: swiftSettings
    ),
    // Overwriting for minutes.
    .executableTarget(
      name: "SteadyBenchmarks",
      dependencies: ["Harness", "ModelStores", "PeerStores", "Workloads"],
      path: "Sources/Steady",
      swiftSettings: swiftSettings
    ),
    // From the start of a process, and from what one left behind, to the first row. Programs of their own: what
    // they link is what is measured.
    .executableTarget(
      name: "StartBenchmarks",
      dependencies: [
        "Harness", "ModelStores", "PeerStores", "StartEngine", "StartFoundation", "StartModels",
        "StartRuntime", "StartSQLite", "Workloads",
      ],
      path: "Sources/Start",
      swiftSettings: macroUserSettings
    ),
    .executableTarget(
      name: "StartRuntime",
      path: "Sources/StartPrograms/Runtime",
      swiftSettings: swiftSettings
    ),
    .executableTarget(
      name: "StartFoundation",
      path: "Sources/StartPrograms/Foundation",
      swiftSettings: swiftSettings
    ),
    .executableTarget(
      name: "StartEngine",
      dependencies: [.product(name: "LogEngine", package: "logstore")],
      path: "Sources/StartPrograms/Engine",
      swiftSettings: swiftSettings
    ),
    .executableTarget(
      name: "StartModels",
      dependencies: [.product(name: "SwiftData", package: "logstore")],
      path: "Sources/StartPrograms/Models",
      swiftSettings: macroUserSettings
    ),
    .executableTarget(
      name: "StartSQLite",
      dependencies: hasSQLite ? [.target(name: "CSQLite")] : [],
      path: "Sources/StartPrograms/SQLite",
      swiftSettings: swiftSettings + sqliteSettings
    ),
    // What many open stores of one process cost.
    .executableTarget(
      name: "TenantBenchmarks",
      dependencies: [
        "Harness", "SQLitePeer", .product(name: "SwiftData", package: "logstore"),
      ],
      path: "Sources/Tenants",
      swiftSettings: macroUserSettings + sqliteSettings
    ),
    .testTarget(name: "HarnessTests", dependencies: ["Harness"], swiftSettings: swiftSettings),
    .testTarget(
      name: "ReportingTests",
      dependencies: ["Harness", "Reporting"],
      swiftSettings: swiftSettings
    ),
    .testTarget(name: "WorkloadsTests", dependencies: ["Workloads"], swiftSettings: swiftSettings),
  ] + peers.map { .systemLibrary(name: "C\($0)") } + serverTargets,
  swiftLanguageModes: [.v6]
)
