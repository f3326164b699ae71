# cmake -DPROGRAM=FILE -P search_path.cmake: the program looks for libraries in ../lib/driftscope beside itself, as
# one that is installed. The search path of a build names folders of who built it. Client: stage.
file(RPATH_SET FILE "${PROGRAM}" NEW_RPATH "\$ORIGIN/../lib/driftscope")
