// swift-tools-version: 6.2
import CompilerPluginSupport
import PackageDescription

// Macros, two ways.
//
// A consumer of this package builds `ModelMacros` as SwiftPM's macro target, from swift-syntax. In a
// checkout, `Tools/` builds the same sources in seconds against the SwiftSyntax that ships inside the
// toolchain, and names the resulting plug-in in LOGSTORE_MACRO_PLUGIN: a first release build then does
// not spend a quarter of an hour optimising swift-syntax. (The flag that loads a plug-in is an
// unsafe one, which SwiftPM refuses in dependencies: so this road is open to checkouts only.)
let macroPlugin = Context.environment["LOGSTORE_MACRO_PLUGIN"]
let toolchainSyntax = Context.environment["LOGSTORE_TOOLCHAIN_SYNTAX"] ?? ""

let swiftSettings: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
]

/// Settings of what works on bytes.
let engineSettings: [SwiftSetting] =
  swiftSettings + [.strictMemorySafety(), .enableExperimentalFeature("Lifetimes")]

/// What loads the plug-in that `Tools/` built.
let pluginSettings: [SwiftSetting] =
  macroPlugin.map { [.unsafeFlags(["-load-plugin-library", $0])] } ?? []

/// Settings of the disks and processes that tests simulate: optimised also in debug builds, in which they would otherwise take
/// longer than what is tested. (Optimising one target is unsafe to SwiftPM, too.)
let simulationSettings: [SwiftSetting] =
  swiftSettings + (macroPlugin == nil ? [] : [.unsafeFlags(["-O"], .when(configuration: .debug))])

/// Settings of a target whose sources use our macros.
let macroUserSettings: [SwiftSetting] = swiftSettings + pluginSettings

/// Settings of a target that is compiled as an app would be: with none of the features we choose.
let appSettings = pluginSettings

let syntaxModules = [
  "SwiftSyntax", "SwiftSyntaxBuilder", "SwiftSyntaxMacros", "SwiftSyntaxMacroExpansion",
  "SwiftDiagnostics", "SwiftParser", "SwiftBasicFormat", "SwiftOperators",
]

let macroTarget: Target =
  if macroPlugin == nil {
    .macro(
      name: "ModelMacros",
      dependencies: [
        .product(name: "SwiftSyntax", package: "swift-syntax"),
        .product(name: "SwiftSyntaxBuilder", package: "swift-syntax"),
        .product(name: "SwiftSyntaxMacros", package: "swift-syntax"),
        .product(name: "SwiftDiagnostics", package: "swift-syntax"),
        .product(name: "SwiftCompilerPlugin", package: "swift-syntax"),
      ],
      swiftSettings: swiftSettings
    )
  } else {
    .target(
      name: "ModelMacros",
      swiftSettings: swiftSettings + [.unsafeFlags(["-I", toolchainSyntax])],
      linkerSettings: [
        .unsafeFlags(
          ["-L", toolchainSyntax, "-Xlinker", "-rpath", "-Xlinker", toolchainSyntax]
            + syntaxModules.map { "-l\($0)" }
        )
      ]
    )
  }

let macroTestTarget: Target =
  if macroPlugin == nil {
    .testTarget(
      name: "ModelMacrosTests",
      dependencies: [
        "ModelMacros",
        .product(name: "SwiftDiagnostics", package: "swift-syntax"),
        .product(name: "SwiftOperators", package: "swift-syntax"),
        .product(name: "SwiftParser", package: "swift-syntax"),
        .product(name: "SwiftSyntax", package: "swift-syntax"),
        .product(name: "SwiftSyntaxBuilder", package: "swift-syntax"),
        .product(name: "SwiftSyntaxMacros", package: "swift-syntax"),
        .product(name: "SwiftSyntaxMacroExpansion", package: "swift-syntax"),
      ],
      swiftSettings: swiftSettings
    )
  } else {
    .testTarget(
      name: "ModelMacrosTests",
      dependencies: ["ModelMacros"],
      swiftSettings: swiftSettings + [.unsafeFlags(["-I", toolchainSyntax])]
    )
  }

// Packages that do not ask for them neither build nor link them.
let traits: Set<Trait> = [
  .trait(name: "Logging", description: "Stores log what happens to them with swift-log."),
  .trait(name: "Metrics", description: "Stores publish their state with swift-metrics."),
  .trait(name: "Tracing", description: "Stores open spans with swift-distributed-tracing."),
  .trait(
    name: "ServiceLifecycle",
    description: "Brings ModelContainerService, which closes the stores when a service group stops."
  ),
  .trait(
    name: "PostgreSQL",
    description: "Brings PostgresStore, which keeps models on a PostgreSQL server by way of libpq."
  ),
  .trait(
    name: "SwiftLZ4",
    description: "Compresses in Swift, where liblz4 cannot be had: the same format, and slower."
  ),
]

let observabilityDependencies: [Target.Dependency] = [
  .product(name: "Logging", package: "swift-log", condition: .when(traits: ["Logging"])),
  .product(name: "CoreMetrics", package: "swift-metrics", condition: .when(traits: ["Metrics"])),
]

let tracingDependencies: [Target.Dependency] = [
  .product(
    name: "Tracing",
    package: "swift-distributed-tracing",
    condition: .when(traits: ["Tracing"])
  )
]

let lifecycleDependencies: [Target.Dependency] = [
  .product(
    name: "ServiceLifecycle",
    package: "swift-service-lifecycle",
    condition: .when(traits: ["ServiceLifecycle"])
  )
]

let macroDependency: [Target.Dependency] = macroPlugin == nil ? ["ModelMacros"] : []

// On Apple's platforms a module named SwiftData would shadow the system's: there, the product SwiftData brings
// LogStore and ModelRuntime, to be imported by these names. A Mac also builds for other platforms, and there the
// module SwiftData comes with it. Which platform is built for a manifest does not know, only where it is read; with
// LOGSTORE_PRETEND_APPLE_HOST it takes any host for a Mac, to be tried where there is none.
#if canImport(Darwin)
let hostIsApple = true
#else
let hostIsApple = Context.environment["LOGSTORE_PRETEND_APPLE_HOST"] != nil
#endif

var products: [Product] = [
  .library(name: "LogStore", targets: ["LogStore"]),
  .library(name: "LogEngine", targets: ["LogEngine", "LogTools"]),
  .library(name: "LogEngineObservability", targets: ["LogEngineObservability"]),
  .library(name: "JSONStore", targets: ["JSONStore"]),
  .library(name: "ModelRuntime", targets: ["ModelRuntime"]),
  .library(name: "PostgresStore", targets: ["PostgresStore"]),
  .library(name: "DataStoreTesting", targets: ["DataStoreTesting"]),
  .library(name: "QueryUI", targets: ["QueryUI"]),
  .library(name: "SwiftData", targets: [hostIsApple ? "LogStoreSwiftData" : "SwiftData"]),
  .executable(name: "logstore-inspect", targets: ["logstore-inspect"]),
]

var targets: [Target] = [
  .target(name: "CCRC32C"),
  .target(name: "CModelRuntime"),
  .target(name: "SchedulePoints", swiftSettings: swiftSettings),
  .target(name: "LibC", swiftSettings: swiftSettings),
  .target(name: "Locking", dependencies: ["LibC"], swiftSettings: engineSettings),
  .systemLibrary(
    name: "CLZ4",
    pkgConfig: "liblz4",
    providers: [.apt(["liblz4-dev"]), .brew(["lz4"])]
  ),
  .target(
    name: "RowFormat",
    dependencies: ["LibC"],
    swiftSettings: engineSettings
  ),
  // The engine has layers; each knows those below it, and the compiler sees to that. LogFormat: what the
  // files hold, and how it is written and read. LogEngine: an open store. LogTools: looking at a store's
  // files from outside.
  .target(
    name: "LogFormat",
    dependencies: ["CCRC32C", "CLZ4", "LibC", "RowFormat"],
    swiftSettings: engineSettings
  ),
  .target(
    name: "LogEngine",
    dependencies: ["LibC", "Locking", "LogFormat", "RowFormat", "SchedulePoints"],
    swiftSettings: engineSettings
  ),
  .target(
    name: "LogTools",
    dependencies: ["LogEngine", "LogFormat", "RowFormat"],
    swiftSettings: engineSettings
  ),
  macroTarget,
  .target(
    name: "ModelRuntime",
    dependencies: ["CModelRuntime", "Locking", "RowFormat", "SchedulePoints"] + macroDependency
      + tracingDependencies,
    swiftSettings: macroUserSettings
      + [.strictMemorySafety(), .enableExperimentalFeature("Lifetimes")]
  ),
  .target(
    name: "LogEngineObservability",
    dependencies: ["LogEngine"] + observabilityDependencies,
    swiftSettings: swiftSettings
  ),
  .target(
    name: "LogStore",
    dependencies: [
      "LibC", "Locking", "LogEngine", "LogEngineObservability", "LogTools", "ModelRuntime",
      "RowFormat", "SchedulePoints",
    ] + observabilityDependencies + tracingDependencies + lifecycleDependencies,
    swiftSettings: swiftSettings + [.strictMemorySafety()]
  ),
  .target(name: "JSONStore", dependencies: ["ModelRuntime"], swiftSettings: swiftSettings),
  .target(
    name: "QueryUI",
    dependencies: ["LogStore", "ModelRuntime"],
    swiftSettings: swiftSettings
  ),
  .systemLibrary(
    name: "CPostgres",
    pkgConfig: "libpq",
    providers: [.apt(["libpq-dev"]), .brew(["libpq"])]
  ),
  // Empty without its trait.
  .target(
    name: "PostgresStore",
    dependencies: [
      .target(name: "CPostgres", condition: .when(traits: ["PostgreSQL"])), "ModelRuntime",
      "RowFormat",
    ],
    swiftSettings: swiftSettings
  ),
  // Empty without the trait, too.
  .target(
    name: "StoreMoving",
    dependencies: [
      "LogEngine", "LogStore", "RowFormat",
      .target(name: "PostgresStore", condition: .when(traits: ["PostgreSQL"])),
    ],
    swiftSettings: swiftSettings
  ),
  .target(
    name: "DataStoreTesting",
    dependencies: ["ModelRuntime"],
    swiftSettings: macroUserSettings
  ),

  .target(
    name: "LogEngineTestSupport",
    dependencies: ["LogEngine", "LogFormat", "LogTools", "RowFormat"],
    path: "Tests/LogEngineTestSupport",
    swiftSettings: simulationSettings
  ),
  .testTarget(name: "RowFormatTests", dependencies: ["RowFormat"], swiftSettings: swiftSettings),
  .testTarget(
    name: "LogEngineTestSupportTests",
    dependencies: ["LogEngine", "LogEngineTestSupport", "RowFormat"],
    swiftSettings: swiftSettings
  ),
  .testTarget(
    name: "LogEngineTests",
    dependencies: [
      "Locking", "LogEngine", "LogEngineTestSupport", "LogFormat", "LogTools", "RowFormat",
    ],
    resources: [.copy("Fixtures/Stores")],
    swiftSettings: swiftSettings
  ),
  macroTestTarget,
  .testTarget(
    name: "ModelRuntimeTests",
    dependencies: ["ModelRuntime", "RowFormat", "DataStoreTesting"],
    swiftSettings: macroUserSettings
  ),

  .target(
    name: "SwiftData",
    dependencies: ["ModelRuntime", "LogStore"],
    swiftSettings: swiftSettings
  ),
  .target(
    name: "Terminal",
    dependencies: [
      "LogEngine", .product(name: "ArgumentParser", package: "swift-argument-parser"),
    ],
    path: "Tools/Terminal",
    swiftSettings: swiftSettings
  ),
  .executableTarget(
    name: "logstore-inspect",
    dependencies: [
      "LogEngine", "LogTools", "RowFormat", "Terminal",
      .target(name: "PostgresStore", condition: .when(traits: ["PostgreSQL"])),
      .target(name: "StoreMoving", condition: .when(traits: ["PostgreSQL"])),
      .product(name: "ArgumentParser", package: "swift-argument-parser"),
    ],
    path: "Tools/logstore-inspect",
    swiftSettings: swiftSettings
  ),
  .executableTarget(
    name: "CrashCampaign",
    dependencies: [
      "LogEngineTestSupport",
      .product(name: "ArgumentParser", package: "swift-argument-parser"),
    ],
    path: "Tools/CrashCampaign",
    exclude: ["Faults"],
    swiftSettings: swiftSettings
  ),
  .executableTarget(
    name: "BitFlipper",
    dependencies: [
      "LogEngineTestSupport",
      .product(name: "ArgumentParser", package: "swift-argument-parser"),
    ],
    path: "Tools/BitFlipper",
    swiftSettings: swiftSettings
  ),
  .executableTarget(
    name: "KillLoop",
    dependencies: [
      "LogEngine", "LogTools", "RowFormat",
      .product(name: "ArgumentParser", package: "swift-argument-parser"),
    ],
    path: "Tools/KillLoop",
    swiftSettings: swiftSettings
  ),
  .executableTarget(
    name: "api-coverage",
    dependencies: [
      "Terminal", .product(name: "ArgumentParser", package: "swift-argument-parser"),
    ],
    path: "Tools/APICoverage",
    exclude: ["SwiftData.declarations"],
    swiftSettings: swiftSettings
  ),
  .testTarget(
    name: "InspectTests",
    dependencies: [
      "logstore-inspect", "Terminal", "LogEngine", "LogEngineTestSupport", "LogTools", "RowFormat",
      .product(name: "ArgumentParser", package: "swift-argument-parser"),
    ],
    exclude: ["Snapshots"],
    swiftSettings: swiftSettings
  ),
]

if hostIsApple {
  targets += [
    .target(
      name: "LogStoreSwiftData",
      dependencies: [
        "LogStore", "ModelRuntime",
        .target(
          name: "SwiftData",
          condition: .when(platforms: [.linux, .android, .windows, .wasi, .openbsd])
        ),
      ],
      swiftSettings: swiftSettings
    )
  ]
} else {
  // Their sources import SwiftData.
  products.append(.executable(name: "SampleTrips", targets: ["SampleTrips"]))
  targets += [
    .executableTarget(
      name: "SampleTrips",
      dependencies: [
        "SwiftData", "JSONStore", "Terminal",
        .target(name: "PostgresStore", condition: .when(traits: ["PostgreSQL"])),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      path: "Tools/SampleTrips",
      resources: [.copy("Resources")],
      swiftSettings: macroUserSettings
    ),
    // Examples are compiled as apps are.
    .executableTarget(
      name: "Todo",
      dependencies: [
        "SwiftData", .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      path: "Tools/Examples/Todo",
      exclude: ["README.md"],
      swiftSettings: appSettings
    ),
    .executableTarget(
      name: "EdgeLogger",
      dependencies: [
        "SwiftData", .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      path: "Tools/Examples/EdgeLogger",
      exclude: ["README.md"],
      swiftSettings: appSettings
    ),
    // A framework of views for terminals, as small as can be, and what brings queries to it.
    .target(name: "TextScreen", path: "Tools/Examples/Departures/TextScreen"),
    .target(
      name: "TextScreenData",
      dependencies: ["QueryUI", "SwiftData", "TextScreen"],
      path: "Tools/Examples/Departures/TextScreenData",
      // As an adapter is that somebody else writes.
      packageAccess: false
    ),
    .executableTarget(
      name: "Departures",
      dependencies: [
        "SwiftData", "TextScreen", "TextScreenData",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      path: "Tools/Examples/Departures/Sources",
      swiftSettings: appSettings
    ),
    .executableTarget(
      name: "Simulator",
      dependencies: [
        "SwiftData", "LogStore", "ModelRuntime", "SchedulePoints",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      path: "Tools/Simulator",
      swiftSettings: macroUserSettings
    ),
    .target(
      name: "QueryDifferential",
      dependencies: ["ModelRuntime", "LogStore"],
      path: "Tests/QueryDifferential",
      swiftSettings: macroUserSettings
    ),
    .executableTarget(
      name: "DifferentialCampaign",
      dependencies: [
        "QueryDifferential", "ModelRuntime",
        .target(name: "PostgresStore", condition: .when(traits: ["PostgreSQL"])),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      path: "Tools/DifferentialCampaign",
      swiftSettings: swiftSettings
    ),
    .testTarget(
      name: "LogStoreTests",
      dependencies: [
        "SwiftData", "JSONStore", "LogStore", "LogEngine", "LogEngineTestSupport", "LogFormat",
        "LogTools", "RowFormat", "DataStoreTesting", "QueryDifferential", "SchedulePoints",
      ],
      swiftSettings: macroUserSettings
    ),
    .testTarget(
      name: "JSONStoreTests",
      dependencies: ["SwiftData", "JSONStore", "DataStoreTesting"],
      swiftSettings: macroUserSettings
    ),
    .testTarget(
      name: "QueryUITests",
      dependencies: ["QueryUI", "SwiftData", "TextScreen", "TextScreenData"],
      swiftSettings: appSettings
    ),
    .testTarget(
      name: "SwiftDataSourceCompatibilityTests",
      dependencies: ["SwiftData", "JSONStore"],
      swiftSettings: appSettings
    ),
    // Questions about real flights, with the answers of a program that has no database.
    .testTarget(
      name: "FlightQuestionTests",
      dependencies: ["SwiftData"],
      exclude: ["Answers"],
      swiftSettings: appSettings
    ),
    // The snippets of README and of the articles, compiled as a reader would.
    .testTarget(
      name: "DocumentationTests",
      dependencies: ["SwiftData", "JSONStore", "DataStoreTesting", "LogEngine", "LogTools"],
      swiftSettings: appSettings
    ),
    // As a new project is: everything belongs to the main actor unless it says otherwise.
    .testTarget(
      name: "SwiftDataDefaultIsolationTests",
      dependencies: ["SwiftData"],
      swiftSettings: appSettings + [.defaultIsolation(MainActor.self), .strictMemorySafety()]
    ),
    .testTarget(
      name: "ToolsTests",
      dependencies: [
        "Departures", "EdgeLogger", "SampleTrips", "Simulator", "TextScreenData", "Todo",
        "api-coverage", "Terminal", "SwiftData", "JSONStore", "LogEngine", "RowFormat",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      swiftSettings: swiftSettings
    ),
  ]
}

// `Tools/test` names the tests that it runs in release: neither the others are built for them, nor the tools. What is
// tested is optimised, not the tests themselves: that would take longer than to run them.
if let tests = Context.environment["LOGSTORE_TESTS"]?.split(separator: ",").map(String.init) {
  targets.removeAll { target in
    target.type == .executable || target.type == .test && !tests.contains(target.name)
  }
  for target in targets where target.type == .test {
    target.swiftSettings =
      (target.swiftSettings ?? []) + [
        .unsafeFlags(["-Onone", "-no-whole-module-optimization", "-enable-batch-mode"])
      ]
  }
  products.removeAll { $0 is Product.Executable }
}

let package = Package(
  name: "logstore",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: products,
  traits: traits,
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
    .package(url: "https://github.com/apple/swift-metrics", from: "2.5.0"),
    .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.2.0"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.4.0"),
  ]
    + (macroPlugin == nil
      ? [.package(url: "https://github.com/swiftlang/swift-syntax", "602.0.0"..<"604.0.0")] : []),
  targets: targets,
  swiftLanguageModes: [.v6]
)
