#!/bin/bash
black --quiet .
