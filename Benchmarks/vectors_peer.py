#!/usr/bin/env python3
"""numpy's search of the ten nearest among random vectors: vectors_peer.py COUNT DIMENSIONS prints the seconds of one."""

import json
import statistics
import sys
import time

import numpy

count, dimensions = int(sys.argv[1]), int(sys.argv[2])
random = numpy.random.default_rng(1)
vectors = random.standard_normal((count, dimensions), dtype=numpy.float32)
vectors /= numpy.linalg.norm(vectors, axis=1, keepdims=True)
times = []
for _ in range(21):
    query = random.standard_normal(dimensions, dtype=numpy.float32)
    query /= numpy.linalg.norm(query)
    began = time.perf_counter()
    cosines = vectors @ query
    best = numpy.argpartition(cosines, -10)[-10:]
    best = best[numpy.argsort(-cosines[best])]
    times.append(time.perf_counter() - began)
print(json.dumps({"seconds": statistics.median(times)}))
