-- A namespace of format 1, as the store made it then: hikers of HikersV1. NAMESPACE is its name.
CREATE SCHEMA "NAMESPACE";
CREATE TABLE "NAMESPACE"."Hike" (
    _id bigint NOT NULL,
    title text COLLATE pg_catalog."C",
    hiker bigint,
    _rank_hiker bigint
);
CREATE TABLE "NAMESPACE"."Hiker" (
    _id bigint NOT NULL,
    name text COLLATE pg_catalog."C",
    load bigint,
    hikes bigint[],
    huts bigint[]
);
CREATE TABLE "NAMESPACE"."Hut" (
    _id bigint NOT NULL,
    title text COLLATE pg_catalog."C",
    guests bigint[]
);
CREATE TABLE "NAMESPACE"._logstore_change (
    xid bigint DEFAULT ((pg_current_xact_id())::text)::bigint NOT NULL,
    ordinal integer NOT NULL,
    "row" bigint NOT NULL,
    kind text NOT NULL,
    columns text[],
    preserved jsonb
);
CREATE TABLE "NAMESPACE"._logstore_commit (
    id uuid NOT NULL,
    xid bigint DEFAULT ((pg_current_xact_id())::text)::bigint NOT NULL,
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    author text,
    source uuid
);
CREATE TABLE "NAMESPACE"._logstore_entity (
    number smallint NOT NULL,
    name text NOT NULL,
    next_key bigint NOT NULL
);
CREATE TABLE "NAMESPACE"._logstore_meta (
    key text NOT NULL,
    value text NOT NULL
);
CREATE SEQUENCE "NAMESPACE"._logstore_rank
    START WITH 16777216
    INCREMENT BY 16777216
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
INSERT INTO "NAMESPACE"."Hike" VALUES (562949953421313, 'out 0', 281474976710657, 16777216);
INSERT INTO "NAMESPACE"."Hike" VALUES (562949953421314, 'back 0', 281474976710657, 16872541);
INSERT INTO "NAMESPACE"."Hike" VALUES (562949953421315, 'out 1', 281474976710658, 33554432);
INSERT INTO "NAMESPACE"."Hike" VALUES (562949953421316, 'back 1', 281474976710658, 33649757);
INSERT INTO "NAMESPACE"."Hike" VALUES (562949953421317, 'out 2', 281474976710659, 50331648);
INSERT INTO "NAMESPACE"."Hike" VALUES (562949953421318, 'back 2', 281474976710659, 50426973);
INSERT INTO "NAMESPACE"."Hiker" VALUES (281474976710657, 'Ann Lee', 10, NULL, '{844424930131969}');
INSERT INTO "NAMESPACE"."Hiker" VALUES (281474976710658, 'Bo Ray', 11, NULL, '{844424930131969,844424930131970}');
INSERT INTO "NAMESPACE"."Hiker" VALUES (281474976710659, 'Ann Lee', 12, NULL, '{844424930131969,844424930131970}');
INSERT INTO "NAMESPACE"."Hut" VALUES (844424930131969, 'Alp', '{281474976710657,281474976710658,281474976710659}');
INSERT INTO "NAMESPACE"."Hut" VALUES (844424930131970, 'Tarn', '{281474976710658,281474976710659}');
INSERT INTO "NAMESPACE"._logstore_change VALUES (700, 0, 281474976710657, 'insert', NULL, NULL);
INSERT INTO "NAMESPACE"._logstore_change VALUES (700, 1, 562949953421313, 'insert', NULL, NULL);
INSERT INTO "NAMESPACE"._logstore_change VALUES (700, 2, 562949953421314, 'insert', NULL, NULL);
INSERT INTO "NAMESPACE"._logstore_change VALUES (700, 3, 844424930131969, 'insert', NULL, NULL);
INSERT INTO "NAMESPACE"._logstore_change VALUES (700, 4, 281474976710658, 'insert', NULL, NULL);
INSERT INTO "NAMESPACE"._logstore_change VALUES (700, 5, 562949953421315, 'insert', NULL, NULL);
INSERT INTO "NAMESPACE"._logstore_change VALUES (700, 6, 562949953421316, 'insert', NULL, NULL);
INSERT INTO "NAMESPACE"._logstore_change VALUES (700, 7, 844424930131970, 'insert', NULL, NULL);
INSERT INTO "NAMESPACE"._logstore_change VALUES (700, 8, 281474976710659, 'insert', NULL, NULL);
INSERT INTO "NAMESPACE"._logstore_change VALUES (700, 9, 562949953421317, 'insert', NULL, NULL);
INSERT INTO "NAMESPACE"._logstore_change VALUES (700, 10, 562949953421318, 'insert', NULL, NULL);
INSERT INTO "NAMESPACE"._logstore_commit VALUES ('17c73554-ce49-49af-b04d-359358353b1b', 700, '2026-11-25 23:49:09.364605+00', NULL, '3431663f-2694-4cdf-b36d-e04336dcda2f');
INSERT INTO "NAMESPACE"._logstore_entity VALUES (1, 'Hiker', 1001);
INSERT INTO "NAMESPACE"._logstore_entity VALUES (2, 'Hike', 1001);
INSERT INTO "NAMESPACE"._logstore_entity VALUES (3, 'Hut', 1001);
INSERT INTO "NAMESPACE"._logstore_meta VALUES ('format', '1');
INSERT INTO "NAMESPACE"._logstore_meta VALUES ('store.identifier', '5483FBC7-EA98-44CB-8E91-C92801890C4D');
INSERT INTO "NAMESPACE"._logstore_meta VALUES ('columns.Hiker', 'text name
integer load
references hikes
references huts');
INSERT INTO "NAMESPACE"._logstore_meta VALUES ('columns.Hike', 'text title
reference? hiker
integer? _rank_hiker');
INSERT INTO "NAMESPACE"._logstore_meta VALUES ('columns.Hut', 'text title
references guests');
INSERT INTO "NAMESPACE"._logstore_meta VALUES ('schema.version', '1.0.0 (cc07d8ddfb5d19a8)');
SELECT pg_catalog.setval('"NAMESPACE"._logstore_rank', 50331648, true);
ALTER TABLE ONLY "NAMESPACE"."Hike"
    ADD CONSTRAINT "Hike_pkey" PRIMARY KEY (_id);
ALTER TABLE ONLY "NAMESPACE"."Hiker"
    ADD CONSTRAINT "Hiker_pkey" PRIMARY KEY (_id);
ALTER TABLE ONLY "NAMESPACE"."Hut"
    ADD CONSTRAINT "Hut_pkey" PRIMARY KEY (_id);
ALTER TABLE ONLY "NAMESPACE"._logstore_change
    ADD CONSTRAINT _logstore_change_pkey PRIMARY KEY (xid, ordinal);
ALTER TABLE ONLY "NAMESPACE"._logstore_commit
    ADD CONSTRAINT _logstore_commit_pkey PRIMARY KEY (id);
ALTER TABLE ONLY "NAMESPACE"._logstore_commit
    ADD CONSTRAINT _logstore_commit_xid_key UNIQUE (xid);
ALTER TABLE ONLY "NAMESPACE"._logstore_entity
    ADD CONSTRAINT _logstore_entity_name_key UNIQUE (name);
ALTER TABLE ONLY "NAMESPACE"._logstore_entity
    ADD CONSTRAINT _logstore_entity_pkey PRIMARY KEY (number);
ALTER TABLE ONLY "NAMESPACE"._logstore_meta
    ADD CONSTRAINT _logstore_meta_pkey PRIMARY KEY (key);
CREATE INDEX "Hike_hiker_inverse" ON "NAMESPACE"."Hike" USING btree (hiker, _rank_hiker);
